import { networkLimits } from '@runnel/network'
import {
  createIdentity,
  loadCrypto,
  placeBefore,
  toStreamId,
  toStreamPartId,
  type MessageBatch,
  type NodeId,
} from '@runnel/protocol'
import { VirtualClock } from '@runnel/transport'
import { describe, expect, it } from 'vitest'
import { ChainPublisher } from '../../world/chain-publisher.ts'
import { BlameChecker } from './blame.ts'
import { Breaches } from './breaches.ts'

const [guest, host, other] = ['a', 'b', 'c'].map((name) => `0x${name.repeat(40)}`) as [NodeId, NodeId, NodeId]
const streamPartId = toStreamPartId(toStreamId(`${guest}/stream`), 0)
const crypto = await loadCrypto()
const { hostClockMs, hostSilentMs, hostWithholdsMs } = networkLimits

/** A guest with two hosts, of which one may keep what is published from it. */
function script() {
  const clock = new VirtualClock()
  const nowMs = () => clock.monotonicMs()
  const breaches = new Breaches(nowMs)
  const blame = new BlameChecker({ breaches, nowMs, wallMs: () => clock.now() })
  const identity = createIdentity(new Uint8Array(32).fill(1), crypto)
  const publisher = new ChainPublisher({ streamPartId, messageChainId: 'c' }, { clock, crypto, identity })
  const publish = ({ isKept = false, isLost = false } = {}): MessageBatch => {
    const batch = publisher.next(1)
    const [message] = batch.messages
    if (message === undefined) throw new Error('an empty batch')
    blame.sends(other, guest, batch, false)
    blame.takes(guest, streamPartId, { ...batch.chain, ...message }, other)
    blame.sends(host, guest, batch, isKept)
    if (!isKept && !isLost) blame.brings(host, guest, batch)
    return batch
  }
  return {
    ...{ breaches, publish },
    found: () => breaches.first?.invariant,
    tells({ chain, messages: [message] }: MessageBatch) {
      if (message === undefined) throw new Error('an empty batch')
      const ranges = [{ after: placeBefore(message), upTo: message }]
      blame.told(guest, { streamPartId, hostId: host, chain, ranges, messages: 1, deliveredBy: [other] })
    },
    ended: () => blame.ended(guest, host, streamPartId),
    /** Seconds in which a message comes every second from both. */
    goOn(seconds: number, of: { readonly isLost?: boolean } = {}) {
      for (let i = 0; i < seconds; i++) {
        clock.advanceBy(1_000)
        publish(of)
        blame.check()
      }
    },
  }
}

const startS = hostClockMs / 1_000 + 2
const overS = hostWithholdsMs / 1_000 + 5

describe('who is blamed', () => {
  it('must be a host that keeps a message back', () => {
    const { goOn, publish, found } = script()
    goOn(startS)
    publish({ isKept: true })
    goOn(overS)
    expect(found()).toBe('withheld')
  })

  it('is right when the guest says so', () => {
    const { goOn, publish, tells, found } = script()
    goOn(startS)
    const kept = publish({ isKept: true })
    goOn(hostWithholdsMs / 1_000)
    tells(kept)
    goOn(overS)
    expect(found()).toBeUndefined()
  })

  it('may not be a host that sent it', () => {
    const { goOn, publish, tells, found } = script()
    goOn(startS)
    const sent = publish()
    goOn(3)
    tells(sent)
    expect(found()).toBe('innocent')
  })

  it('need not be a host that has only just come, was silent, or is gone', () => {
    const fresh = script()
    fresh.goOn(2)
    fresh.publish({ isKept: true })
    fresh.goOn(overS)
    const silent = script()
    silent.goOn(startS)
    silent.publish({ isKept: true })
    silent.goOn(hostSilentMs / 1_000, { isLost: true })
    silent.goOn(overS)
    const gone = script()
    gone.goOn(startS)
    gone.publish({ isKept: true })
    gone.ended()
    gone.goOn(overS)
    expect([fresh.found(), silent.found(), gone.found()]).toEqual([undefined, undefined, undefined])
  })

  it('is judged by what came: what was sent into a link that has ended makes no host one that takes part', () => {
    const { goOn, publish, found } = script()
    goOn(startS, { isLost: true })
    publish({ isKept: true })
    goOn(overS)
    expect(found()).toBeUndefined()
  })
})
