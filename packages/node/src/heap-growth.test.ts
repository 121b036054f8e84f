import { constants, PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics } from 'node:v8'
import { VirtualClock } from '@runnel/transport'
import { expect, it } from 'vitest'
import {
  growYoungGenerationWhileBusy,
  keepOldGenerationTight,
  keepYoungGenerationSmall,
} from './heap-growth.ts'

/** What the young generation may hold as it is, some pages more or less: how much of it is committed changes with each collection. */
function youngBytes(): number {
  const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')
  return young === undefined ? NaN : young.space_used_size + young.space_available_size
}

const makeObjects = (count: number) => Array.from({ length: count }, (_, i) => ({ i }))

// Before the other, which leaves a heap that is larger than all that is in use.
it('collects the old generation more often, as it may grow less', async () => {
  keepYoungGenerationSmall()
  const before = await oldCollectionsWhileReplacing()
  keepOldGenerationTight()
  await oldCollectionsWhileReplacing() // Until the first collection the limit of before holds.
  expect(await oldCollectionsWhileReplacing()).toBeGreaterThan(before)
})

it('keeps the young generation as it is, and has it grow while the process is busy', () => {
  const clock = new VirtualClock({ startMs: 0 })
  const grows = () => {
    const before = youngBytes()
    expect(makeObjects(2_000_000)).toHaveLength(2_000_000)
    return youngBytes() > 1.5 * before
  }
  keepYoungGenerationSmall()
  expect(grows()).toBe(false)
  let utilization = 0.01
  const end = growYoungGenerationWhileBusy(clock, () => utilization)
  clock.advanceBy(10_000)
  expect(grows()).toBe(false)
  utilization = 0.5
  clock.advanceBy(10_000)
  expect(grows()).toBe(true)
  utilization = 0.01
  clock.advanceBy(10_000)
  expect(grows()).toBe(false)
  end()
  utilization = 0.5
  clock.advanceBy(60_000)
  expect(grows()).toBe(false)
})

/** While each of a million objects is replaced eight times. */
async function oldCollectionsWhileReplacing(): Promise<number> {
  let count = 0
  const observer = new PerformanceObserver((list) => {
    const collections = list.getEntries() as (PerformanceEntry & { detail: { kind: number } })[]
    count += collections.filter(({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR).length
  })
  observer.observe({ entryTypes: ['gc'] })
  const inUse = makeObjects(1_000_000)
  for (let round = 0; round < 56; round++) {
    for (let i = round % 7; i < inUse.length; i += 7) inUse[i] = { i }
    await new Promise(setImmediate)
  }
  observer.disconnect()
  return count
}
