import { delayAimMs, judgeAims, type Aim, type AimResult, type Measured } from '../core/aims.ts'
import { lossesOf, type Losses } from '../core/loss.ts'
import { membersOf, publishedPerS, type LoadPlan } from '../core/plan.ts'
import { doubtsOf, type Doubt, type GeneratorFigures } from '../core/verdict.ts'
import { sumOf } from '../core/sum-of.ts'
import type { RunTimes } from '../core/budget.ts'
import type { Driven } from '../load/drive.ts'
import { shortfallOf } from '../load/expected.ts'
import { errorText } from '../load/measurements.ts'
import type { Cut } from '../load/measure.ts'
import { DelayHistogram, summaryOf, type DelaySummary } from '../load/histogram.ts'
import type { SecondFigures } from '../load/seconds.ts'
import type { ProcessCost, Target } from '../network/target.ts'
import { curveOf, type Curve } from './curve.ts'
import { machineOf, type Machine } from './machine.ts'

/** What a run was, what it measured, and what its figures are worth. */
export interface RunReport {
  readonly title: string
  readonly startedAt: string
  readonly network: string
  readonly machine: Machine
  /** Of the command, as far as they change what is measured. */
  readonly options: string
  readonly plan: LoadPlan
  readonly times: RunTimes
  /** Of the largest overlay. */
  readonly members: number
  readonly intendedPerS: number
  readonly delays: DelaySummary | undefined
  /** From the first user that joined to settled overlays. */
  readonly settledInMs: number
  readonly curve: Curve
  readonly joinCurve: Curve
  readonly joins: DelaySummary | undefined
  readonly lateness: DelaySummary | undefined
  readonly published: number
  readonly expected: number
  readonly received: number
  /** Undefined where nothing should have come, or the run was cut short. */
  readonly lossPercent: number | undefined
  readonly losses: Losses
  readonly duplicates: number
  readonly disordered: number
  /** What arrived in the time that is measured; undefined where nothing is sent to users of this run, or it was cut short. */
  readonly receivedPerS: number | undefined
  readonly seconds: readonly SecondFigures[]
  readonly generators: readonly GeneratorFigures[]
  readonly processes: readonly ProcessCost[]
  readonly errors: Readonly<Record<string, number>>
  readonly leavesOut: string
  readonly aims: readonly AimResult[]
  readonly doubts: readonly Doubt[]
}

export interface ReportInput {
  readonly title: string
  readonly startedAt: string
  readonly options: string
  readonly plan: LoadPlan
  readonly times: RunTimes
  readonly target: Target
  readonly aims: readonly Aim[]
}

/** Makes of what was driven what people want to know. */
export function reportOf(input: ReportInput, driven: Driven): RunReport {
  const { plan, times, target } = input
  const { results, seconds, processes, unsettled, settledInMs, cut } = driven
  const merged = (of: 'delays' | 'joins' | 'lateness') => mergedOf(results.map((result) => result[of]))
  const [delays, joins, lateness] = [merged('delays'), merged('joins'), merged('lateness')]
  const sum = (of: (result: (typeof results)[number]) => number) =>
    results.reduce((all, one) => all + of(one), 0)
  const published = sum((result) => sumOf(result.published))
  const { expected, ...shortfall } = shortfallOf(plan, results)
  // What was on its way when a run was cut short is not known to be lost.
  const { lost, lossPercent } = cut === undefined ? shortfall : { lost: 0, lossPercent: undefined }
  const figures = {
    ...{ delays: summaryOf(delays), joins: summaryOf(joins), lateness: summaryOf(lateness) },
    ...{ published, expected, received: sum((one) => one.received), lossPercent },
    losses: lossesOf(plan, lost, results),
    duplicates: sum((one) => one.duplicates),
    disordered: sum((one) => one.disordered),
    receivedPerS:
      times.durationMs === 0 || !plan.subscribes || cut !== undefined
        ? undefined
        : sum((one) => one.inWindow) / (times.durationMs / 1000),
    generators: results.map((result) => generatorFigures(result)),
  }
  return {
    ...{
      title: input.title,
      startedAt: input.startedAt,
      network: target.description,
      machine: machineOf(),
      options: input.options,
      plan,
      times,
      seconds,
      processes,
      settledInMs,
    },
    members: membersOf(plan, 0),
    intendedPerS: publishedPerS(plan),
    ...figures,
    ...{ curve: curveOf(delays), joinCurve: curveOf(joins) },
    errors: mergedErrors(results.map(({ errors }) => errors)),
    leavesOut: results[0]?.leavesOut ?? '',
    aims: judgeAims(input.aims, measuredOf(figures)),
    doubts: [
      ...cutDoubts(cut),
      ...doubtsOf(figures.generators, {
        ...{ p50Ms: figures.delays?.p50Ms, latenessMs: figures.lateness?.p99Ms },
        aimMs: delayAimMs(input.aims),
      }),
      ...networkDoubts(unsettled, target.died()),
    ],
  }
}

function cutDoubts(cut: Cut | undefined): readonly Doubt[] {
  if (cut === undefined) return []
  const { error, silent } = cut
  const missing = silent.length === 0 ? '' : `; without the figures of ${silent.join(', ')}`
  return [{ kind: 'ended-early', text: `the run ended early (${errorText(error)})${missing}` }]
}

function networkDoubts(unsettled: readonly string[], died: readonly string[]): readonly Doubt[] {
  return [
    ...(unsettled.length === 0
      ? []
      : [{ kind: 'not-settled' as const, text: `the overlays had not settled: ${unsettled.join('; ')}` }]),
    ...died.map((text) => ({ kind: 'process-died' as const, text })),
  ]
}

type Figures = Pick<
  RunReport,
  | 'delays'
  | 'joins'
  | 'lateness'
  | 'lossPercent'
  | 'duplicates'
  | 'disordered'
  | 'receivedPerS'
  | 'generators'
>

/** What aims can be about. */
function measuredOf(figures: Figures): Measured {
  const { delays, joins, lateness, lossPercent, receivedPerS, generators } = figures
  return {
    ...(delays && {
      ...{ p50: delays.p50Ms, p90: delays.p90Ms, p95: delays.p95Ms, p99: delays.p99Ms },
      ...{ 'p99.9': delays.p999Ms, max: delays.maxMs, mean: delays.meanMs },
    }),
    ...(joins && { join: joins.p99Ms }),
    ...(lateness && { lateness: lateness.p99Ms }),
    ...(lossPercent !== undefined && { loss: lossPercent }),
    ...(receivedPerS !== undefined && { rate: receivedPerS }),
    cpu: Math.max(0, ...generators.map(({ cpuShare }) => cpuShare)) * 100,
    ...{ duplicates: figures.duplicates, disordered: figures.disordered },
  }
}

function generatorFigures({
  name,
  cpuShare,
  rssBytes,
  latenessP99Ms,
  clockErrorMs,
}: GeneratorFigures): GeneratorFigures {
  return { name, cpuShare, rssBytes, latenessP99Ms, clockErrorMs }
}

function mergedOf(encoded: readonly string[]): DelayHistogram {
  const all = new DelayHistogram()
  for (const one of encoded) all.merge(new DelayHistogram(one))
  return all
}

function mergedErrors(all: readonly Readonly<Record<string, number>>[]): Readonly<Record<string, number>> {
  const merged = new Map<string, number>()
  for (const errors of all)
    for (const [text, count] of Object.entries(errors)) merged.set(text, (merged.get(text) ?? 0) + count)
  return Object.fromEntries(merged)
}
