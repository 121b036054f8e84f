import { describe, expect, it } from 'vitest'
import { mediaLimits } from '../limits.ts'
import { FirstGroup } from './first-group.ts'

const picture = (i: number, isKey = false) => ({ timestampUs: i, isKey, data: new Uint8Array(1) })
const key = (i: number) => picture(i, true)

/** What is sent of these pictures, by their times, while so many of the first go to nobody. */
function sentOf(pictures: readonly ReturnType<typeof picture>[], toNobody: number): number[][] {
  const group = new FirstGroup()
  return pictures.map((one, i) => {
    const sent = group.next(one)
    for (let k = 0; k < sent.length; k++) group.sent(i < toNobody ? 0 : 1)
    return sent.map(({ timestampUs }) => timestampUs)
  })
}

describe('the first group of a file', () => {
  it('is sent once where somebody is there', () => {
    expect(sentOf([key(0), picture(1), picture(2), key(3)], 0)).toEqual([[0], [1], [2], [3]])
  })

  it('is sent again once somebody is, from the newest key frame on', () => {
    const pictures = [key(0), picture(1), key(2), picture(3), picture(4), picture(5), picture(6)]
    expect(sentOf(pictures, 4)).toEqual([[0], [1], [2], [3], [4], [2, 3, 4, 5], [6]])
  })

  it('is not sent again where a key frame was the first to reach somebody', () => {
    expect(sentOf([key(0), picture(1), key(2), picture(3)], 2)).toEqual([[0], [1], [2], [3]])
  })

  it('is not sent again where it is long, or has no beginning', () => {
    const long = Array.from({ length: mediaLimits.maxWaitingFrames }, (_, i) => picture(i + 1))
    const all = (sent: number[][]) => Math.max(...sent.map(({ length }) => length))
    expect(all(sentOf([key(0), ...long], long.length - 1))).toBe(1)
    expect(all(sentOf([key(0), ...long.slice(1)], long.length - 2))).toBe(mediaLimits.maxWaitingFrames)
    expect(all(sentOf([picture(0), picture(1), picture(2)], 1))).toBe(1)
  })
})
