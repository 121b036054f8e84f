import { beginPhase, showProgress } from '../phase.ts'
import { benchError } from '../errors.ts'
import { RecordedMeeting } from '../../../packages/media/src/page/recorded-meeting.testkit.ts'
import type { MediaPage } from '../../../packages/media/src/page/pages.testkit.ts'
import { within } from '../settling.ts'
import { percentile, round } from '../statistics.ts'

export interface PlaybackBenchOptions {
  /** Sound and pictures of two renditions together, about 95 a second. */
  readonly frames: number
  /** On moments all over the recording. */
  readonly clicks: number
  /** Pages that open it, one after the other. */
  readonly opens: number
  readonly limitS: number
}

/** Milliseconds until any picture of the group was painted, and until that of the moment was. */
interface Times {
  readonly firstMs: number
  readonly exactMs: number
}

/**
 * From a click on the time line to the picture, in Chromium, with a real storage node on this machine and a recording made by a page: of the
 * larger rendition, key frames at most four seconds apart. The baseline reads the same messages and decodes none. Then new pages, from the
 * start of their client to the first picture.
 */
export async function playbackBench({ frames, clicks, opens, limitS }: PlaybackBenchOptions) {
  const meeting = await RecordedMeeting.start()
  const run = async () => {
    beginPhase('recording')
    await meeting.record(frames)
    const page = await meeting.open()
    beginPhase('clicks')
    const measured = await measureClicks(page, clicks)
    await page.page.context().close()
    const openMs: number[] = []
    beginPhase('new pages')
    showProgress(() => `${openMs.length} of ${opens} pages`)
    for (let i = 0; i < opens; i++) openMs.push(await meeting.timeToPicture())
    return { ...measured, opens, firstPictureOfNewPageMs: spread(openMs) }
  }
  try {
    return { bench: 'playback', frames, clicks, ...(await within(limitS * 1_000, 'playing', run())) }
  } finally {
    await meeting.stop()
  }
}

/** Each moment twice: with and without decoding, which of the two first by turns. */
async function measureClicks(page: MediaPage, clicks: number) {
  const { fromMs, toMs } = await page.call('range')
  // The page publishes all renditions some moments after the first.
  const shownMs = 1_000 + (await page.call('shownFromMs'))
  const [played, read]: [Times[], Times[]] = [[], []]
  let bytes = 0
  showProgress(() => `${played.length} of ${clicks} clicks`)
  const reading = async (atMs: number): Promise<void> => {
    const one = await page.call('readOnly', atMs)
    read.push(one)
    bytes += one.bytes
  }
  for (let i = 0; i < clicks; i++) {
    // Moments that do not follow each other: multiples of the golden ratio.
    const atMs = shownMs + ((i * 0.618) % 1) * (toMs - shownMs)
    if (i % 2 === 0) await reading(atMs)
    played.push(await page.call('click', atMs))
    if (i % 2 === 1) await reading(atMs)
  }
  const faults = await page.call('recordingFaults')
  if (faults.length > 0) throw benchError('INCOMPLETE', faults.join())
  const of = (times: readonly Times[], which: keyof Times) => times.map((one) => one[which])
  const p50 = (times: readonly Times[], which: keyof Times) => percentile(of(times, which), 0.5)
  return {
    seconds: round((toMs - fromMs) / 1_000),
    kilobytesRead: round(bytes / clicks / 1_000),
    firstPictureMs: spread(of(played, 'firstMs')),
    pictureOfTheMomentMs: spread(of(played, 'exactMs')),
    baseline: {
      what: 'reading the same messages, without decoding',
      firstPictureMs: spread(of(read, 'firstMs')),
      pictureOfTheMomentMs: spread(of(read, 'exactMs')),
    },
    ratio: {
      firstPicture: round(p50(played, 'firstMs') / p50(read, 'firstMs')),
      pictureOfTheMoment: round(p50(played, 'exactMs') / p50(read, 'exactMs')),
    },
  }
}

const spread = (samples: readonly number[]) => ({
  p50: round(percentile(samples, 0.5)),
  p95: round(percentile(samples, 0.95)),
  max: round(Math.max(...samples)),
})
