import { describe, expect, it } from 'vitest'
import { parseDurationMs } from './duration.ts'

describe('parseDurationMs', () => {
  it.each([
    ['500ms', 500],
    ['10s', 10_000],
    ['1.5s', 1500],
    ['2m', 120_000],
    ['1h', 3_600_000],
    ['1d', 86_400_000],
  ])('%s is %i ms', (text, ms) => {
    expect(parseDurationMs(text, 'for')).toBe(ms)
  })

  it.each(['10', 's', '', '-1s', '0s', '25h', '1e9s', '10 s', '1.1d'])('refuses "%s"', (text) => {
    expect(() => parseDurationMs(text, 'for')).toThrow(/--for takes a duration/)
  })

  it('takes as many days as its option allows', () => {
    expect(parseDurationMs('366d', 'for', 366)).toBe(366 * 86_400_000)
    expect(() => parseDurationMs('367d', 'for', 366)).toThrow('up to 366d')
  })
})
