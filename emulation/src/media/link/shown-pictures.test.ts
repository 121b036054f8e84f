import { expect, it } from 'vitest'
import { damagedPictures, shownPictures } from './shown-pictures.ts'

const options = { startUs: 1_000, count: 9, picturesPerS: 10, picturesOfGroup: 3, withinMs: 50 }
const picture = (number: number, rendition = 0, lateMs = 10) => ({
  ...{ number, rendition, atUs: 1_000 + number * 100_000 + lateMs * 1_000 },
})

it.each([
  ['all that came in time', [0, 1, 2, 3, 4, 5, 6, 7, 8].map((n) => picture(n)), [0, 1, 2, 3, 4, 5, 6, 7, 8]],
  ['none after one that is missing', [0, 2, 3, 4, 5].map((n) => picture(n)), [0, 3, 4, 5]],
  ['none after one that is late', [picture(0), picture(1, 0, 51), picture(2), picture(3)], [0, 3]],
  ['none of another rendition', [picture(0, 1), picture(1, 0), picture(3, 2), picture(4, 2)], [0, 3, 4]],
])('shows %s', (_, came, shown) => {
  expect(shownPictures(came, options).map(({ number }) => number)).toEqual(shown)
})

it('has what a decoder makes of the rest, from the first that needs no other', () => {
  const came = [picture(2), picture(6, 1), picture(4), picture(3), picture(5, 0, 60), picture(20)]
  expect(damagedPictures(came, options).map(({ number }) => number)).toEqual([3, 4, 6])
})
