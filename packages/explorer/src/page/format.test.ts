import { keyPartition } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import {
  formatAge,
  formatCount,
  formatMs,
  partitionText,
  plural,
  shortId,
  shownHost,
  shownText,
  splitPart,
} from './format.ts'

describe('formats', () => {
  it.each([
    [0.44, '0.4 ms'],
    [9.96, '10.0 ms'],
    [12.4, '12 ms'],
    [1_250, '1.25 s'],
    [null, '–'],
    [Number.NaN, '–'],
  ])('shows %s milliseconds as %s', (ms, text) => expect(formatMs(ms)).toBe(text))

  it('shows counts, ids, stream parts and ages', () => {
    expect(formatCount(12_345)).toBe('12,345')
    expect([plural(1, 'node'), plural(2, 'node')]).toEqual(['1 node', '2 nodes'])
    expect(shortId(`0x${'ab'.repeat(20)}`)).toBe('0xabab…abab')
    expect(splitPart(`0x${'a'.repeat(40)}/room/1#12`)).toEqual({
      owner: `0x${'a'.repeat(40)}`,
      path: 'room/1',
      partition: 12,
    })
    expect([partitionText(99), partitionText(keyPartition)]).toEqual(['partition 99', 'keys'])
    expect([0, 12_000, 180_000].map(formatAge)).toEqual(['just now', '12 s ago', '3 min ago'])
  })

  it('shows where a tracker is, whatever it says', () => {
    const urls = ['http://a.example:1/x', 'nonsense', 'javascript:x']
    expect(urls.map(shownHost)).toEqual(['a.example:1', 'nonsense', 'javascript:x'])
  })

  it('lets no text of a stranger pass for another, nor fill the page', () => {
    expect(shownText('a\u202eb\u0000c\u2066d\ne')).toBe('a\ufffdb\ufffdc\ufffdd\ne')
    expect(shownText('x'.repeat(10), 4)).toBe('xxxx…')
  })
})
