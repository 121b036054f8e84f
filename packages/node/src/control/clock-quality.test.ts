import { describe, expect, it } from 'vitest'
import { clockQuality, parseTracking } from './clock-quality.ts'

describe('the quality of the clock', () => {
  it('is read from what chrony prints', () => {
    const line =
      'A9FEA97B,169.254.169.123,4,1763741234.123,-0.000012345,0.000001,0.00002,1.5,0.001,0.03,0.000420,0.000160,16.2,Normal\n'
    const { source, offsetMs, errorMs } = parseTracking(line)
    expect(source).toBe('chrony')
    expect(offsetMs).toBeCloseTo(-0.012345)
    expect(errorMs).toBeCloseTo(0.37)
  })

  it('is unknown where chrony has no reference, or prints something else', () => {
    const unknown = { source: 'unknown', offsetMs: null, errorMs: null }
    expect(parseTracking('00000000,,0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,1.0,1.0,0.0,Not synchronised')).toEqual(
      unknown,
    )
    for (const line of ['', 'x', '506 Cannot talk to daemon']) expect(parseTracking(line)).toEqual(unknown)
  })

  it('is found out on this machine, whether chrony runs or not', async () => {
    expect(['chrony', 'unknown']).toContain((await clockQuality()).source)
  })
})
