import { percentile, round } from '@runnel/sim/statistics'
import {
  stages,
  starts,
  type FirstArm,
  type FirstOptions,
  type JoinReport,
  type Start,
} from './first-plan.ts'

/** One start of one process. Stages are times from the start, in milliseconds; null where there is none on this way. */
export interface FirstRow extends Readonly<Record<string, string | number | null>> {
  readonly arm: FirstArm
  readonly start: Start
  readonly repeat: number
  readonly oneWayMs: number
  /** To the goal; null where it was not reached. */
  readonly firstMs: number | null
}

export function rowsOf(
  {
    goal,
    arm,
    repeat,
    oneWayMs,
    relayOneWayMs,
  }: FirstOptions & { readonly arm: FirstArm; readonly repeat: number },
  report: JoinReport,
): FirstRow[] {
  const { processMs, cpuMs, rssBytes } = report
  return starts.map((start) => {
    const { stages: times, side, transport, path } = report[start]
    const reached = stages.map((stage) => [`${stage}Ms`, roundedOrNull(times[stage])])
    return {
      ...{ arm, start, repeat, oneWayMs, relayOneWayMs, transport: transport ?? null },
      side: side ?? null,
      path: path === undefined ? null : `${path.local}–${path.remote}`,
      ...(Object.fromEntries(reached) as Record<string, number | null>),
      firstMs: roundedOrNull(times[goal]),
      ...{ processMs: round(processMs), cpuMs: round(cpuMs), rssMiB: Math.round(rssBytes / 2 ** 20) },
    }
  })
}

/** What all starts of one kind came to. */
export interface FirstSummary {
  readonly arm: FirstArm
  readonly start: Start
  readonly runs: number
  /** Starts that did not come to their goal; the other figures leave them out. */
  readonly missed: number
  readonly p50Ms: number
  readonly p95Ms: number
  /** Between the first and the third quartile. */
  readonly iqrMs: number
  readonly maxMs: number
  /** The median, in times that a packet needs to the publisher and back: over coturn where that is the way. */
  readonly roundTrips: number
  /** Starts that took more than twice the median: of a second hump. */
  readonly slow: number
  /** The medians of what each stage took after the one before it, in its order. */
  readonly stageP50Ms: string
  readonly cpuP50Ms: number
  readonly rssMiB: number
}

export function summaries(rows: readonly FirstRow[]): FirstSummary[] {
  const kinds = Map.groupBy(rows, ({ arm, start }) => `${arm} ${start}`)
  return Array.from(kinds.values(), summaryOf).flat()
}

function summaryOf(rows: readonly FirstRow[]): FirstSummary[] {
  const [first] = rows
  if (first === undefined) return []
  const done = rows.filter(({ firstMs }) => firstMs !== null)
  const times = done.map(({ firstMs }) => Number(firstMs))
  const at = (share: number): number => percentile(times, share) ?? NaN
  const p50Ms = at(0.5)
  const wayMs = first.arm === 'relayed' ? 2 * Number(first['relayOneWayMs']) : first.oneWayMs
  return [
    {
      ...{ arm: first.arm, start: first.start, runs: rows.length, missed: rows.length - done.length },
      ...{ p50Ms: round(p50Ms), p95Ms: round(at(0.95)), iqrMs: round(at(0.75) - at(0.25)) },
      maxMs: round(Math.max(...times)),
      roundTrips: round(p50Ms / (2 * wayMs)),
      slow: times.filter((ms) => ms > 2 * p50Ms).length,
      stageP50Ms: stageMedians(done),
      cpuP50Ms: median(done, 'cpuMs'),
      rssMiB: median(done, 'rssMiB'),
    },
  ]
}

const median = (rows: readonly FirstRow[], field: string): number =>
  round(
    percentile(
      rows.map((row) => Number(row[field])),
      0.5,
    ) ?? NaN,
  )

function stageMedians(rows: readonly FirstRow[]): string {
  const there = stages.filter((stage) => rows.every((row) => typeof row[`${stage}Ms`] === 'number'))
  return there
    .map((stage, index) => {
      const before = there[index - 1]
      const tookMs = rows.map((row) => Number(row[`${stage}Ms`]) - Number(before ? row[`${before}Ms`] : 0))
      return `${stage} ${Math.round(percentile(tookMs, 0.5) ?? NaN)}`
    })
    .join(', ')
}

function roundedOrNull(value: number | undefined): number | null {
  return value === undefined ? null : round(value)
}
