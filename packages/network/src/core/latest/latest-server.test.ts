import { delegationRef, encodeDelegation, keyTagExtension } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import {
  batchAt,
  closed,
  control,
  CoreScript,
  crypto,
  data,
  delegationOf,
  identityOf,
  join,
  leave,
  partId,
  publish,
  startMs,
} from '../core.testkit.ts'

const tag = new Uint8Array(16).fill(5)
const other = new Uint8Array(16).fill(6)
const extensions = [{ type: keyTagExtension, bytes: tag }]
const ask = (peer: number, wanted: Uint8Array | undefined = tag, requestId = 1) =>
  control(peer, { type: 'askLatest', requestId, streamPartId: partId, tag: wanted })

describe('a neighbour that asks for the newest message of a key', () => {
  it('is told it, or that there is none; nothing is delivered or seen by that', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    script.run(
      data(3, batchAt([startMs + 5], { extensions })),
      data(3, batchAt([startMs + 9], { chainId: 'd' })),
    )
    expect(script.run(ask(2))).toEqual(['latest 2 5'])
    expect(script.run(ask(2, other))).toEqual(['latest 2 none'])
    expect(script.run(control(2, { type: 'askLatest', requestId: 2, streamPartId: partId, tag: undefined }))).toEqual(['latest 2 9']) // prettier-ignore
    expect(script.core.counters['latest.answered']).toBe(3)
  })

  it('is told it for as long as the owner of the stream asks for it, or for half a minute', () => {
    for (const [keepsLatest, answer] of [
      [true, 'latest 2 5'],
      [false, 'latest 2 none'],
    ] as const) {
      // prettier-ignore
      const script = new CoreScript()
      script.run({ ...join, keepsLatest })
      script.withNeighbours(2)
      if (keepsLatest) script.run({ ...join, keepsLatest })
      script.run(data(2, batchAt([startMs + 5], { extensions })))
      script.pass(30_000)
      expect(script.run(ask(2))).toEqual([answer])
    }
  })

  it('is not told what was published before this node read: others may have published since', () => {
    const script = new CoreScript()
    const feeds = { ...join, reads: false, keepsLatest: true } as typeof join
    script.run(feeds, publish(batchAt([startMs + 5], { extensions })))
    const { latest } = script.core.streamParts.get(partId) ?? expect.fail('not joined')
    expect(latest.keys).toBe(2)
    script.pass(60_000)
    script.run({ ...feeds, reads: true })
    expect(latest.keys).toBe(0)
    script.withNeighbours(2)
    script.run(data(2, batchAt([startMs + 60_000], { chainId: 'd', extensions })))
    expect(latest.keys).toBe(2)
  })

  it('is told first under which delegation it is signed', () => {
    const delegation = delegationOf()
    const delegate = { identity: identityOf(8), delegation }
    const script = new CoreScript().withNeighbours(2, 3)
    script.run(control(3, { type: 'delegation', delegation }))
    script.run(data(3, batchAt([startMs + 5], { extensions, delegate })))
    const ref = delegationRef(encodeDelegation(delegation), crypto)
    expect(script.core.delegations.get(ref)).toEqual(delegation)
    // With the flood it was told already; a new link knows nothing.
    script.run(closed(2))
    script.withNeighbours(2)
    expect(script.run(ask(2))).toEqual(['delegation 2', 'latest 2 5'])
  })

  it('is not answered when it is none, asks too often, or takes no more', () => {
    const script = new CoreScript({ maxLatestPerS: 2 }).withNeighbours(2)
    expect(script.run(ask(9))).toEqual(['dropped latest.refused'])
    expect(script.run(ask(2), ask(2), ask(2)).slice(2)).toEqual(['dropped latest.refused'])
    script.pass(500)
    script.canTakeMore = false
    expect(script.run(ask(2))).toEqual(['dropped latest.refused'])
    expect(script.core.counters['latest.refused']).toBe(3)
  })

  it('costs nothing any more when the stream part is left', () => {
    const script = new CoreScript().withNeighbours(2)
    script.run(data(2, batchAt([startMs + 5], { extensions })), leave, join)
    expect(script.core.streamParts.get(partId)?.latest.bytes).toBe(0)
    expect(script.run(ask(2))).toEqual(['dropped latest.refused'])
  })
})
