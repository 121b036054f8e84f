import { describe, expect, it } from 'vitest'
import { Busyness } from './busyness.ts'

/** Called every 250 ms, and later than that by so much. */
function callLate(busyness: Busyness, fromMs: number, lateMs: readonly number[]): number {
  let nowMs = fromMs
  for (const late of lateMs) {
    nowMs += 250 + late
    busyness.called(nowMs, 250)
  }
  return nowMs
}

describe('how busy a thread is', () => {
  it('is told by how late it is called', () => {
    const busyness = new Busyness()
    busyness.called(0, 250)
    let nowMs = callLate(busyness, 0, Array<number>(40).fill(10))
    expect(busyness.isBusy).toBe(false)
    nowMs = callLate(busyness, nowMs, Array<number>(10).fill(250))
    expect(busyness.isBusy).toBe(true)
    callLate(busyness, nowMs, Array<number>(40).fill(10))
    expect(busyness.isBusy).toBe(false)
  })

  it('is not told by what is held back for another reason', () => {
    const busyness = new Busyness()
    busyness.called(0, 250)
    busyness.skip()
    busyness.called(60_000, 250)
    callLate(busyness, 60_000, [0, 0])
    expect(busyness.isBusy).toBe(false)
  })

  it('is not told by one turn that takes long, and says when it changes', () => {
    const busyness = new Busyness()
    busyness.called(0, 250)
    const nowMs = callLate(busyness, 0, [...Array<number>(20).fill(0), 600, ...Array<number>(3).fill(0)])
    expect(busyness.isBusy).toBe(false)
    expect(busyness.called(nowMs + 10_250, 250)).toBe(true)
    expect(busyness.called(nowMs + 10_500, 250)).toBe(false)
  })
})
