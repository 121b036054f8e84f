import { expect, it } from 'vitest'
import { playbackBench } from './playback-bench.ts'

it('measures clicks and new pages beside reading alone', { timeout: 120_000 }, async () => {
  const report = await playbackBench({ frames: 700, clicks: 4, opens: 2, limitS: 110 })
  const { firstPictureMs, pictureOfTheMomentMs, baseline, ratio, firstPictureOfNewPageMs } = report
  expect(firstPictureMs.p50).toBeLessThanOrEqual(pictureOfTheMomentMs.p50)
  expect(baseline.firstPictureMs.p50).toBeGreaterThan(0)
  expect(ratio.firstPicture).toBeCloseTo(firstPictureMs.p50 / baseline.firstPictureMs.p50, 1)
  expect(Math.min(report.kilobytesRead, firstPictureOfNewPageMs.p50)).toBeGreaterThan(0)
})
