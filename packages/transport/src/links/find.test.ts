import { describe, expect, it } from 'vitest'
import { MemoryNetwork } from '../memory/memory-network.ts'
import { VirtualClock } from '../memory/virtual-clock.ts'
import {
  createTestNode,
  dialledByEverybody,
  numbered,
  twoIdentities,
  type TestNode,
} from './links.testkit.ts'

async function pair(label: string) {
  const clock = new VirtualClock()
  const network = new MemoryNetwork({ seed: label }, { clock })
  const [low, high] = await Promise.all(
    twoIdentities(label).map((identity) => createTestNode(identity, {}, { network, clock })),
  )
  return { clock, low: low as TestNode, high: high as TestNode }
}

/** What became of it: the id that was found, or the code. */
function find(from: TestNode, url: string) {
  const told: string[] = []
  const cancel = from.links.find({
    ...{ url, peerId: undefined, timeoutMs: 1_000 },
    onFound: (found) => told.push(found, ...from.log),
    onFail: ({ code }) => told.push(code),
  })
  return { told, cancel }
}

describe('finding who is at a URL', () => {
  it('tells who it is, and then opens the link', async () => {
    const { clock, low, high } = await pair('found')
    const { told } = find(high, `memory:${low.identity.nodeId}`)
    clock.advanceBy(100)
    expect(told).toEqual([low.identity.nodeId])
    expect([low.log, high.log]).toEqual([['opened'], ['opened']])
    // It was asked for, so it is not closed as unused here.
    high.links.send(low.identity.nodeId, numbered(1))
    clock.advanceBy(100)
    expect(low.received).toEqual([1])
  })

  it('keeps one link where there is one with that peer already', async () => {
    const { clock, low, high } = await pair('found again')
    low.links.connect(high.identity.nodeId, dialledByEverybody)
    clock.advanceBy(100)
    const { told } = find(low, `memory:${high.identity.nodeId}`)
    clock.advanceBy(20_000)
    expect(told).toEqual([high.identity.nodeId, 'opened'])
    expect([low.log, high.log]).toEqual([['opened'], ['opened']])
  })

  it('fails where nobody is there, and where nothing dials such URLs', async () => {
    const { clock, low } = await pair('not found')
    const nobody = find(low, `memory:0x${'0'.repeat(40)}`)
    const strange = find(low, 'gopher://example.org')
    clock.advanceBy(2_000)
    expect([nobody.told, strange.told]).toEqual([['DIAL_FAILED'], ['DIAL_FAILED']])
    expect(low.log).toEqual([])
  })

  it('takes no link to itself, and none once it was cancelled', async () => {
    const { clock, low, high } = await pair('itself')
    const itself = find(low, `memory:${low.identity.nodeId}`)
    const cancelled = find(low, `memory:${high.identity.nodeId}`)
    cancelled.cancel()
    clock.advanceBy(2_000)
    expect([itself.told, cancelled.told]).toEqual([['HANDSHAKE_FAILED'], []])
    expect([low.log, high.log]).toEqual([[], []])
  })
})
