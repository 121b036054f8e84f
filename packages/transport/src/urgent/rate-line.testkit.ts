import type { RateControl } from './rate-control.ts'

export interface RateLineOptions {
  /** What the line carries, by time. */
  kbitPerS(ms: number): number
  readonly oneWayMs: number
  readonly lossRate?: number
  /** What waits before the line; more is lost. */
  readonly queueBytes?: number
  readonly untilMs: number
  /** What the sender sends in any case, in place of the rate. */
  readonly sendsKbitPerS?: number
  /** What the sender sends at most. */
  readonly wantsKbitPerS?: number
  /** When the receiver notices what comes at a time: later where its machine is busy. Default: at once. */
  noticedMs?(ms: number): number
}

export interface RateSample {
  readonly ms: number
  readonly rateKbitPerS: number
  readonly deliveredKbitPerS: number
  /** The longest wait before the line in this 100 ms. */
  readonly waitedMs: number
}

const frameBytes = 1_000
const reportMs = 50

/** Sends at the rate that is controlled, over a line, and reports what comes; a sample each 100 ms. */
export function runLine(rate: RateControl, options: RateLineOptions): RateSample[] {
  const { oneWayMs, lossRate = 0, queueBytes = 50_000, untilMs } = options
  const noticedMs = options.noticedMs ?? ((ms: number) => ms)
  const events: { readonly atMs: number; run(nowMs: number): void }[] = []
  const samples: RateSample[] = []
  let [credit, freeAtMs, chance] = [0, 0, 1]
  let [delivered, waited] = [0, 0]
  let report: {
    arrived: { sentMs: number; arrivedMs: number; bytes: number; isOther: boolean }[]
    lost: number
  } = {
    arrived: [],
    lost: 0,
  }
  // Some chance that is the same in each run (MINSTD).
  const isLost = (): boolean => (chance = (chance * 48_271) % 2_147_483_647) / 2_147_483_647 < lossRate
  for (let nowMs = 0; nowMs < untilMs; nowMs++) {
    credit += (options.sendsKbitPerS ?? Math.min(rate.kbitPerS, options.wantsKbitPerS ?? Infinity)) / 8
    for (; credit >= frameBytes; credit -= frameBytes) {
      const waitsMs = Math.max(0, freeAtMs - nowMs)
      const byLine = options.kbitPerS(nowMs) / 8
      if (waitsMs * byLine > queueBytes || isLost()) {
        report.lost++
        continue
      }
      waited = Math.max(waited, waitsMs)
      freeAtMs = Math.max(freeAtMs, nowMs) + frameBytes / byLine
      const sentMs = nowMs
      events.push({
        atMs: noticedMs(freeAtMs + oneWayMs),
        // The other clock is another.
        run: (atMs) => {
          delivered += frameBytes
          report.arrived.push({ sentMs, arrivedMs: atMs + 77_000, bytes: frameBytes, isOther: false })
        },
      })
    }
    if (nowMs % reportMs === 0 && report.arrived.length + report.lost > 0) {
      const feedback = { ...report, rttMs: 2 * oneWayMs + Math.max(0, freeAtMs - nowMs) }
      report = { arrived: [], lost: 0 }
      events.push({ atMs: nowMs + oneWayMs, run: (atMs) => rate.feedback(feedback, atMs) })
    }
    for (const event of events.filter(({ atMs }) => atMs <= nowMs)) event.run(nowMs)
    for (let i = events.length - 1; i >= 0; i--) if ((events[i]?.atMs ?? 0) <= nowMs) events.splice(i, 1)
    if (nowMs % 100 !== 99) continue
    samples.push({
      ...{ ms: nowMs + 1, rateKbitPerS: rate.kbitPerS, waitedMs: waited },
      deliveredKbitPerS: (delivered * 8) / 100,
    })
    ;[delivered, waited] = [0, 0]
  }
  return samples
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)

/** What was delivered on average in a part of a run, and the mean of the longest waits. */
export function meanOf(samples: readonly RateSample[], fromMs: number, toMs: number) {
  const part = samples.filter(({ ms }) => ms > fromMs && ms <= toMs)
  return {
    kbitPerS: mean(part.map(({ deliveredKbitPerS }) => deliveredKbitPerS)),
    waitedMs: mean(part.map(({ waitedMs }) => waitedMs)),
  }
}
