import { getHeapSpaceStatistics } from 'node:v8'
import { expect, it } from 'vitest'
import { keepYoungGenerationSmall, letYoungGenerationGrow } from './young-generation.ts'

const youngBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? NaN

const makeObjects = () => Array.from({ length: 2_000_000 }, (_, i) => ({ i }))

it('does not grow with what is made, until it may', () => {
  keepYoungGenerationSmall()
  const before = youngBytes()
  expect(makeObjects()).toHaveLength(2_000_000)
  expect(youngBytes()).toBeLessThanOrEqual(before)

  letYoungGenerationGrow()
  expect(makeObjects()).toHaveLength(2_000_000)
  expect(youngBytes()).toBeGreaterThan(before)
})
