import { createIdentity, loadCrypto, seededRandom } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { linkGone, LinkSignals } from './link-signals.ts'

const crypto = await loadCrypto()
const peerOf = (name: string) => createIdentity(seededRandom(name).bytes(32), crypto).nodeId

describe('the signals of links', () => {
  it('are one for each link, for whoever asks, until it closes', () => {
    const links = new LinkSignals()
    const [peer, other] = [peerOf('peer'), peerOf('other')]
    const signal = links.of(peer)
    expect(links.of(peer)).toBe(signal)
    const ofOther = links.of(other)
    links.closed(peer)
    expect([signal.reason, ofOther.aborted]).toEqual([linkGone, false])
    expect(links.of(peer).aborted).toBe(false)
  })

  it('are all aborted at the end, also those asked for later', () => {
    const links = new LinkSignals()
    const signal = links.of(peerOf('peer'))
    const reason = new Error('the end')
    links.end(reason)
    links.end(new Error('again'))
    expect([signal.reason, links.of(peerOf('later')).reason]).toEqual([reason, reason])
  })
})
