import { describe, expect, it } from 'vitest'
import { parsePoint } from './point-in-time.ts'

const nowMs = 1_800_000_000_000
const lastSequence = 2 ** 32 - 1

describe('parsePoint', () => {
  it.each([
    ['1700000000000', 1_700_000_000_000],
    ['0', 0],
    ['2030-01-31T12:00:00Z', Date.UTC(2030, 0, 31, 12)],
    ['2030-01-31', Date.UTC(2030, 0, 31)],
    ['-10m', nowMs - 600_000],
    ['-1.5h', nowMs - 5_400_000],
    ['-2d', nowMs - 172_800_000],
    ['-250ms', nowMs - 250],
    ['10m', nowMs - 600_000],
  ])('takes %s for a whole millisecond', (text, timestamp) => {
    expect(parsePoint(text, 'first', nowMs)).toEqual({ timestamp, sequenceNumber: 0 })
    expect(parsePoint(text, 'last', nowMs)).toEqual({ timestamp, sequenceNumber: lastSequence })
  })

  it('takes a place for itself', () => {
    const point = { timestamp: 1_700_000_000_000, sequenceNumber: 3 }
    expect(parsePoint('1700000000000-3', 'first', nowMs)).toEqual(point)
    expect(parsePoint('1700000000000-3', 'last', nowMs)).toEqual(point)
  })

  it.each([
    ...['', 'yesterday', '-10', '--10m', '-10y', '1e3', '2030-13-01', '-99999999999d', '9999999999999999'],
    ...['1700000000000-99999999999', '1700000000000-', '-1-2', ' 5'],
  ])('refuses "%s"', (text) => {
    expect(parsePoint(text, 'first', nowMs)).toBeUndefined()
  })
})
