import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mediaLimits } from '../limits.ts'
import type { TimeRange } from '../recording/time-line.ts'
import type { MediaPage } from './pages.testkit.ts'
import { RecordedMeeting } from './recorded-meeting.testkit.ts'

let meeting: RecordedMeeting
let ben: MediaPage
let range: TimeRange

const until = <T>(isSo: () => Promise<T>) => expect.poll(isSo, { timeout: 60_000, interval: 100 })

beforeAll(async () => {
  meeting = await RecordedMeeting.start()
  await meeting.record(1_200)
  ben = await meeting.open()
  range = await ben.call('range')
}, 120_000)
afterAll(() => meeting.stop())

describe('the playback of a recording', () => {
  it('shows the picture of the moment that was clicked at, and the beginning of its group before', async () => {
    for (const share of [0.3, 0.9, 0.5]) {
      const atMs = range.fromMs + share * (range.toMs - range.fromMs)
      const { firstPaintedMs = 0 } = await ben.call('click', atMs)
      expect((await ben.call('played')).positionMs).toBe(atMs)
      // What was painted came to the recorder a little later: encoded, sent and signed on a busy machine.
      await until(async () => Math.abs(atMs - ((await ben.call('played')).paintedMs ?? 0))).toBeLessThan(
        2_000,
      )
      const { paintedMs = 0 } = await ben.call('played')
      expect(paintedMs).toBeLessThan(atMs + 50)
      expect(firstPaintedMs).toBeLessThanOrEqual(paintedMs)
      expect(paintedMs - firstPaintedMs).toBeLessThan(2 * mediaLimits.maxKeyDistanceMs)
    }
  })

  it.each([0.5, 1, 2, 4])('plays at %d times: what is painted advances as the player does', async (rate) => {
    await ben.call('pause')
    const fromMs = range.fromMs + 0.2 * (range.toMs - range.fromMs)
    const movedFurther = (ms: number) =>
      until(async () => (await ben.call('played')).positionMs - fromMs).toBeGreaterThan(ms)
    await ben.call('click', fromMs)
    await ben.call('play', rate)
    await movedFurther(1_000)
    const before = await ben.call('played')
    await movedFurther(6_000)
    const after = await ben.call('played')
    const [moved, ran] = [after.positionMs - before.positionMs, after.ranMs - before.ranMs]
    expect(moved / ran).toBeCloseTo(rate, 1)
    expect(((after.paintedMs ?? 0) - (before.paintedMs ?? 0)) / moved).toBeGreaterThan(0.7)
    expect(((after.paintedMs ?? 0) - (before.paintedMs ?? 0)) / moved).toBeLessThan(1.3)
  })

  it('has sound up to twice the speed, and none above', async () => {
    for (const rate of [1, 0.5, 2]) {
      await ben.call('click', range.fromMs + 0.4 * (range.toMs - range.fromMs))
      await ben.call('play', rate)
      await until(() => ben.call('playedLoudness')).toBeGreaterThan(0.01)
    }
    await ben.call('play', 4)
    const { positionMs } = await ben.call('played')
    await until(async () => (await ben.call('played')).positionMs - positionMs).toBeGreaterThan(1_000)
    expect(await ben.call('playedLoudness')).toBe(0)
  })

  it('has thumbnails in the order of their times', async () => {
    const thumbnails = await ben.call('thumbnails', 8)
    const painted = thumbnails.flatMap(({ paintedMs }) => paintedMs ?? [])
    expect(painted.length).toBeGreaterThanOrEqual(6)
    expect(painted).toEqual(painted.toSorted((a, b) => a - b))
    for (const { atMs, paintedMs } of thumbnails)
      if (paintedMs !== undefined) expect(Math.abs(atMs - paintedMs)).toBeLessThan(6_000)
  })

  it('leaves no fault behind, and no error that nobody was told', async () => {
    expect(await ben.call('recordingFaults')).toEqual([])
    expect(meeting.pages.errors).toEqual([])
  })
})
