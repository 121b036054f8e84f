import { toStreamPartId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import {
  attach,
  contact,
  CoreScript,
  idOf,
  instruct,
  join,
  opened,
  partId,
  streamId,
} from '../core.testkit.ts'

describe('the news of links', () => {
  it('reports round-trip times when they become known, not when they stay the same', () => {
    const script = new CoreScript().withNeighbours(2)
    script.status()
    script.rttMs = 20
    expect(script.pass(5_000)).toEqual(['status'])
    script.status()
    script.rttMs = 21
    expect(script.pass(60_000)).toEqual([])
    script.rttMs = 60
    expect(script.pass(30_000)).toEqual(['status'])
  })

  it('looks at all stream parts at once, and reports of many some now and the others the next time', () => {
    const script = new CoreScript({ maxRttReports: 2 })
    script.rttMs = 20
    script.run(opened(2))
    const ids = [0, 1, 2, 3, 4].map((partition) => toStreamPartId(streamId, partition))
    for (const streamPartId of ids) {
      const neighbours = [{ nodeId: idOf(2), contact }]
      const instruction = { type: 'instruction', streamPartId, counter: 1, neighbours } as const
      const packet = { type: 'attach', streamPartId, sinceMs: 0, heads: [] } as const
      const events = [
        { type: 'instruction', instruction } as const,
        { type: 'control', peerId: idOf(2), packet } as const,
      ]
      script.run({ type: 'join', streamPartId, fillGaps: true, reads: true }, ...events)
      script.core.takeStatus(streamPartId, script.nowMs)
      script.pass(1_000)
    }
    expect(script.pass(60_000)).toEqual([])
    script.rttMs = 60
    const taken = [ids.slice(0, 2), ids.slice(2, 4), ids.slice(4), []]
    const reports = taken.map((some) => {
      const lines = script.pass(30_000)
      for (const id of some) script.core.takeStatus(id, script.nowMs)
      return lines
    })
    expect(reports).toEqual([['status', 'status'], ['status', 'status'], ['status'], []])
  })

  it('tells by what it is linked when that is news to the tracker, and then nothing more', () => {
    const script = new CoreScript()
    script.rttMs = 20
    script.transport = 3
    const told = () =>
      script.core.takeStatus(partId, script.nowMs)?.neighbours.map(({ transport }) => transport)
    script.run(join, opened(2), attach(2))
    // The tracker may have put the first ones aside.
    expect([told(), told()]).toEqual([[3], [3]])
    script.run(instruct(1, 2))
    expect([told(), told()]).toEqual([[3], [undefined]])
    expect(script.pass(60_000)).toEqual([])
    script.transport = 1
    expect(script.pass(30_000)).toEqual(['status'])
    expect([told(), told()]).toEqual([[1], [undefined]])
    script.run(instruct(2, 2, 3), opened(3), attach(3))
    expect([told(), told()]).toEqual([
      [1, 1],
      [undefined, undefined],
    ])
    script.run({ type: 'trackerSession', streamPartId: partId })
    expect(told()).toEqual([1, 1])
  })
})
