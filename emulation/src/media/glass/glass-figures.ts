import { mean, percentile, round } from '@runnel/sim/statistics'
import { freezes, type Window } from '../room/flow-figures.ts'

/** A picture as it was seen on a screen; Unix milliseconds. */
export interface ShownPicture {
  readonly paintedMs: number
  readonly shownMs: number
}

/** What a member's own stack says at a moment. */
export interface FlowCounters {
  /** RFC 3550, section 6.4.1, of the sound: of its last packets. */
  readonly jitterMs: number
  /** Of the sound since the member joined, in frames or samples: what was to be played, and what of it was made up. */
  readonly soundUnits: number
  readonly concealedUnits: number
  /** Of the pictures since the member joined, in frames where a frame is a message, in packets by RTP: those sent, and those of them lost. */
  readonly pictureUnits: number
  readonly lostUnits: number
}

/** What a page wrote down. */
export interface PageRecord {
  readonly shown: readonly ShownPicture[]
  readonly heardMs: readonly number[]
  readonly clicksMs: readonly number[]
  /** From the begin of what is measured to its end, at equal intervals. */
  readonly counters: readonly FlowCounters[]
}

/** What came of a room whose first page publishes: from glass to glass, and from mouth to ear. */
export function glassFigures(
  [publisher, ...watching]: readonly PageRecord[],
  window: Window,
  picturesPerS: number,
) {
  const isIn = (ms: number): boolean => ms >= window.fromMs && ms < window.untilMs
  const everyMs = 1_000 / picturesPerS
  const clicksMs = publisher?.clicksMs ?? []
  const shown = watching.map((page) => page.shown.filter(({ shownMs }) => isIn(shownMs)))
  const pictureMs = shown.flatMap((pictures) => pictures.map(({ paintedMs, shownMs }) => shownMs - paintedMs))
  const soundMs = watching.flatMap(({ heardMs }) => delaysOf(heardMs.filter(isIn), clicksMs))
  const frozen = shown.map((pictures) =>
    freezes(
      pictures.map(({ shownMs }) => shownMs),
      everyMs,
      window,
    ),
  )
  const seconds = (window.untilMs - window.fromMs) / 1_000
  const counters = watching.map((page) => page.counters)
  const ofAll = (of: (samples: readonly FlowCounters[]) => number | undefined) =>
    rounded(mean(counters.flatMap((samples) => of(samples) ?? [])))
  return {
    ...percentilesOf('picture', pictureMs),
    ...percentilesOf('sound', soundMs),
    picturesPerS: rounded(mean(shown.map(({ length }) => length / seconds))),
    clicks: clicksMs.filter(isIn).length * watching.length,
    clicksHeard: soundMs.length,
    freezesPerMinute: rounded(mean(frozen.map((times) => (60 * times) / seconds))),
    jitterMs: ofAll((samples) => mean(samples.map(({ jitterMs }) => jitterMs))),
    concealedPercent: ofAll((samples) => percentSince(samples, 'concealedUnits', 'soundUnits')),
    pictureLossPercent: ofAll((samples) => percentSince(samples, 'lostUnits', 'pictureUnits')),
  }
}

/** What a counter has grown by between the first sample and the last, of what another has; undefined where there is nothing. */
function percentSince(
  samples: readonly FlowCounters[],
  part: 'concealedUnits' | 'lostUnits',
  whole: 'soundUnits' | 'pictureUnits',
): number | undefined {
  const [first, last] = [samples[0], samples.at(-1)]
  if (first === undefined || last === undefined || last[whole] <= first[whole]) return undefined
  return (100 * (last[part] - first[part])) / (last[whole] - first[whole])
}

/** What was heard is the last click before. */
function delaysOf(heardMs: readonly number[], clicksMs: readonly number[]): number[] {
  return heardMs.flatMap((atMs) => {
    const clickMs = clicksMs.findLast((ms) => ms <= atMs)
    return clickMs === undefined ? [] : atMs - clickMs
  })
}

function percentilesOf(name: 'picture' | 'sound', delaysMs: readonly number[]) {
  return {
    [`${name}P50Ms`]: rounded(percentile(delaysMs, 0.5)),
    [`${name}P95Ms`]: rounded(percentile(delaysMs, 0.95)),
  }
}

const rounded = (value: number | undefined): number | null => (value === undefined ? null : round(value))
