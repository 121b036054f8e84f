import { VirtualClock } from '@runnel/transport'
import { expect, it, vi } from 'vitest'
import type { StreamInfo } from '../registry/ports.ts'
import { AddedPartitions } from './added-partitions.ts'

/** Promises have no clock: all that is due now is done. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))
const streamOf = (partitions: number) => ({ partitions }) as StreamInfo

function setUp(known: number) {
  const clock = new VirtualClock({ startMs: 0 })
  const ending = new AbortController()
  const onAdded = vi.fn<(stream: StreamInfo, partitions: readonly number[]) => void>()
  const state: { stream: StreamInfo | undefined; isAway: boolean } = {
    stream: streamOf(known),
    isAway: false,
  }
  const getStream = () => (state.isAway ? Promise.reject(new Error('away')) : Promise.resolve(state.stream))
  const added = new AddedPartitions({ known }, { clock, getStream, onAdded, signal: ending.signal })
  return { added, clock, ending, state, told: () => onAdded.mock.calls.map(([, partitions]) => partitions) }
}

it('tells of each partition once, and of none that goes', async () => {
  const { added, state, told } = setUp(2)
  for (const partitions of [2, 4, 3, 4, 5]) {
    state.stream = streamOf(partitions)
    added.look()
    await settled()
  }
  state.stream = undefined
  added.look()
  await settled()
  expect(told()).toEqual([[2, 3], [4]])
})

it('asks again when the registry gave no answer, and when told meanwhile', async () => {
  const { added, clock, state, told } = setUp(1)
  state.isAway = true
  added.look()
  await settled()
  clock.advanceBy(60_000)
  await settled()
  state.isAway = false
  state.stream = streamOf(2)
  clock.advanceBy(5_000)
  added.look()
  state.stream = streamOf(3)
  await settled()
  expect(told()).toEqual([[1, 2]])
})

it('ends with its signal', async () => {
  const { added, clock, ending, state, told } = setUp(1)
  state.isAway = true
  added.look()
  await settled()
  ending.abort()
  state.isAway = false
  state.stream = streamOf(2)
  clock.advanceBy(60_000)
  await settled()
  expect(told()).toEqual([])
})
