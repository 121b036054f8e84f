import { constants, PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics } from 'node:v8'
import { expect, it } from 'vitest'
import { keepOldGenerationTight, keepYoungGenerationSmall, letYoungGenerationGrow } from './heap-growth.ts'

const youngBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? NaN

const makeObjects = (count: number) => Array.from({ length: count }, (_, i) => ({ i }))

it('keeps the young generation as it is, until it may grow', () => {
  keepYoungGenerationSmall()
  const before = youngBytes()
  expect(makeObjects(2_000_000)).toHaveLength(2_000_000)
  expect(youngBytes()).toBeLessThanOrEqual(before)

  letYoungGenerationGrow()
  expect(makeObjects(2_000_000)).toHaveLength(2_000_000)
  expect(youngBytes()).toBeGreaterThan(before)
})

it('collects the old generation several times as often, as it may grow less', async () => {
  keepYoungGenerationSmall()
  const before = await oldCollectionsWhileReplacing()
  keepOldGenerationTight()
  await oldCollectionsWhileReplacing() // Until the first collection the limit of before holds.
  expect(await oldCollectionsWhileReplacing()).toBeGreaterThan(2 * before)
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
