import { getHeapSpaceStatistics } from 'node:v8'
import { expect, it } from 'vitest'
import { keepYoungGenerationSmall } from './young-generation.ts'

const youngBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? NaN

it('does not grow with what is made', () => {
  keepYoungGenerationSmall()
  const before = youngBytes()
  const kept = Array.from({ length: 2_000_000 }, (_, i) => ({ i }))
  expect(youngBytes()).toBeLessThanOrEqual(before)
  expect(kept).toHaveLength(2_000_000)
})
