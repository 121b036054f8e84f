import { expect, it } from 'vitest'
import { publishersOf } from './churn.ts'

const nodes = (count: number) => Array.from({ length: count }, (_, index) => index)

it('every fourth node publishes', () => {
  expect(publishersOf(nodes(9), 3_000)).toEqual([0, 4, 8])
})

it('so many publish that nodes remember all messages', () => {
  expect(publishersOf(nodes(264), 3_000)).toHaveLength(66)
  expect(publishersOf(nodes(265), 3_000)).toHaveLength(66)
  expect(publishersOf(nodes(265), 100_000)).toEqual([0, 4])
})
