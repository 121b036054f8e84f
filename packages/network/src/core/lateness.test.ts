import { expect, it } from 'vitest'
import { Lateness } from './lateness.ts'

const boundAfter = (...latesMs: readonly number[]): number | undefined => {
  const lateness = new Lateness()
  for (const lateMs of latesMs) lateness.add(lateMs)
  return lateness.boundMs
}

it('begins with half of the first as deviation, as RFC 6298 does', () => {
  expect(boundAfter()).toBeUndefined()
  expect(boundAfter(100)).toBe(100 + 4 * 50)
})

it('is soon that of what is always as late', () => {
  expect(boundAfter(...new Array<number>(200).fill(100))).toBeCloseTo(100, 1)
})

it('covers what is late once in ten times, whatever came in between', () => {
  const onceInTen = Array.from({ length: 200 }, (_, i) => (i % 10 === 9 ? 300 : 100))
  for (let end = 100; end <= 200; end++) expect(boundAfter(...onceInTen.slice(0, end))).toBeGreaterThan(300)
})
