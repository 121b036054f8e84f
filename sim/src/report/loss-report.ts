import type { GapCounts } from '../measures/gap-measures.ts'
import { mean, round } from '../measures/statistics.ts'
import type { MissingMessages } from '../scenarios/loss-measures.ts'
import type { LossOptions, LossReport } from '../scenarios/loss.ts'

/** Of the messages that one node misses of another, for people. */
const maxNumbersShown = 20

export interface LossSummary {
  readonly sim: 'loss'
  readonly options: Omit<LossOptions, 'seed'>
  readonly total: LossTotal
  readonly seeds: readonly LossReport[]
}

type Outcome = Pick<LossReport, 'expected' | 'delivered' | 'outOfOrder' | 'duplicates'>

/** All seeds together. */
interface LossTotal {
  readonly seeds: number
  /** Seeds in which every survivor's application got every message once and in order. */
  readonly perfectSeeds: number
  readonly expected: number
  readonly delivered: number
  readonly deliveredShare: number
  readonly outOfOrder: number
  readonly duplicates: number
  readonly gaps: GapCounts
  /** The largest of all seeds. */
  readonly worstP95Rtts: number
  /** The mean of all seeds. */
  readonly redundancy: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** The latest of all. */
  readonly maxMs: number
}

export function isPerfect({ expected, delivered, outOfOrder, duplicates }: Outcome): boolean {
  return delivered === expected && outOfOrder === 0 && duplicates === 0
}

export function summarize(options: Omit<LossOptions, 'seed'>, seeds: readonly LossReport[]): LossSummary {
  const sum = (of: (report: LossReport) => number): number =>
    seeds.reduce((total, report) => total + of(report), 0)
  const meanOf = (of: (report: LossReport) => number): number => round(mean(seeds.map(of)) ?? 0)
  const [expected, delivered] = [sum((report) => report.expected), sum((report) => report.delivered)]
  return {
    sim: 'loss',
    options,
    total: {
      seeds: seeds.length,
      perfectSeeds: seeds.filter(isPerfect).length,
      expected,
      delivered,
      deliveredShare: delivered / expected,
      outOfOrder: sum((report) => report.outOfOrder),
      duplicates: sum((report) => report.duplicates),
      gaps: {
        opened: sum(({ gaps }) => gaps.opened),
        filledByPath: sum(({ gaps }) => gaps.filledByPath),
        filledByNeighbour: sum(({ gaps }) => gaps.filledByNeighbour),
        filledByArchive: sum(({ gaps }) => gaps.filledByArchive),
        lost: sum(({ gaps }) => gaps.lost),
      },
      worstP95Rtts: Math.max(...seeds.map(({ fillTimes }) => fillTimes.p95Rtts ?? 0)),
      redundancy: meanOf((report) => report.redundancy),
      p50Ms: meanOf((report) => report.p50Ms),
      p99Ms: meanOf((report) => report.p99Ms),
      maxMs: Math.max(...seeds.map(({ maxMs }) => maxMs)),
    },
    seeds,
  }
}

/** One seed as a line for people. */
export function describeSeed(report: LossReport): string {
  const { seed, survivors, killed, delivered, expected, outOfOrder, duplicates, gaps, fillTimes } = report
  const filled = `${gaps.filledByPath} by path, ${gaps.filledByNeighbour} by neighbour, ${gaps.lost} lost`
  const line = [
    `seed ${seed}: ${delivered} of ${expected} to ${survivors} survivors (${killed} killed)`,
    `${outOfOrder} out of order`,
    `${duplicates} duplicates`,
    `gaps ${gaps.opened} (${filled})`,
    `filled in ${fillTimes.p50Rtts ?? '-'} RTT at p50, ${fillTimes.p95Rtts ?? '-'} at p95`,
    `delays ${report.p50Ms}, ${report.p99Ms}, ${report.maxMs} ms at p50, p99, at most`,
    `redundancy ${report.redundancy}`,
    `trace ${report.traceHash}`,
  ].join(', ')
  return [line, ...report.missing.map(describeMissing)].join('\n')
}

function describeMissing({ node, publisher, numbers }: MissingMessages): string {
  const more = numbers.length > maxNumbersShown ? ` and ${numbers.length - maxNumbersShown} more` : ''
  return `  ${node} misses of ${publisher}: ${numbers.slice(0, maxNumbersShown).join(' ')}${more}`
}
