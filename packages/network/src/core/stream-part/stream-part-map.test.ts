import { toStreamPartId } from '@runnel/protocol'
import { expect, it } from 'vitest'
import { networkLimits } from '../../limits.ts'
import { startMs, streamId } from '../core.testkit.ts'
import { newCounters } from '../counter-names.ts'
import { SharedBytes } from '../shared-bytes.ts'
import { StreamPart } from './stream-part.ts'
import { StreamPartMap } from './stream-part-map.ts'

const partOf = (partition: number) =>
  new StreamPart(
    { id: toStreamPartId(streamId, partition), joinedMs: startMs, limits: networkLimits },
    {
      counters: newCounters(),
      recentBytes: new SharedBytes(Infinity),
      latestBytes: new SharedBytes(Infinity),
      onGapLost: () => {},
      rttOf: () => undefined,
      lateMs: () => 0,
      membershipToken: () => undefined,
      gone: () => {},
    },
  )

it('does the work of all, also when that of the current one throws, whose fault it is', () => {
  const faults: unknown[] = []
  const parts = new StreamPartMap({ onFault: (part, error) => faults.push([part.id, String(error)]) })
  const [first, current, last] = [0, 1, 2].map(partOf) as [StreamPart, StreamPart, StreamPart]
  for (const part of [first, current, last]) parts.add(part)
  const done: string[] = []
  let isReached = false
  parts.within(current, () => {
    parts.each((part) => {
      if (part === current) throw new Error('of the current')
      done.push(part.id)
    })
    isReached = true
  })
  expect(done).toEqual([first.id, last.id])
  expect(isReached).toBe(false)
  expect(faults).toEqual([[current.id, 'Error: of the current']])
})
