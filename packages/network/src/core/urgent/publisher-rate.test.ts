import { expect, it } from 'vitest'
import { publisherRate } from './publisher-rate.ts'

it('a publisher follows its second worst link', () => {
  expect(publisherRate([900, 100, 400, 700])).toBe(400)
  expect(publisherRate([900, 100])).toBe(900)
  expect(publisherRate([100])).toBe(100)
  expect(publisherRate([])).toBeUndefined()
})
