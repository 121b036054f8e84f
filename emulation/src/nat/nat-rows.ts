import { quantile } from '../underlay/statistics.ts'
import { isRelayed, type PairResult, type PairTimes } from './nat-pair.ts'
import { expectedOf, helperSets, nameOf, type HelperSet, type Scenario } from './nat-scenarios.ts'
import type { Outcome } from './theory.ts'

/**
 * All set-ups of one pair with the same servers. Times are of the second node, in milliseconds; the link's times also have their
 * spread.
 */
export interface NatRow {
  readonly pair: string
  readonly helpers: HelperSet
  readonly expected: Outcome
  /** What came of most of them. */
  readonly outcome: Outcome
  readonly runs: number
  /** Of these, as theory has it. */
  readonly asExpected: number
  /** Kinds of addresses at the first and the second node, as the other side of each sees it; most frequent. */
  readonly candidates: string | null
  /** That went through the relay at first, and do no longer. */
  readonly upgraded: number
  /** Why there was no link. */
  readonly failure: string | null
  /** What the tracker was told of that. */
  readonly reported: string | null
  readonly processP50Ms: number | null
  readonly trackerP50Ms: number | null
  readonly linkP50Ms: number | null
  readonly linkMinMs: number | null
  readonly linkMaxMs: number | null
  readonly messageP50Ms: number | null
  /** From the start of the process to the first message. */
  readonly totalP50Ms: number | null
}

export function rowOf(scenario: Scenario, helpers: HelperSet, results: readonly PairResult[]): NatRow {
  const expected = expectedOf(scenario, helperSets[helpers])
  const times = results.map((result) => result.times).filter((one) => one !== undefined)
  const of = (share: number, value: (of: PairTimes) => number): number | null =>
    times.length === 0 ? null : Math.round(quantile(times.map(value), share))
  const total = ({ processMs, trackerMs, linkMs, messageMs }: PairTimes): number =>
    processMs + trackerMs + linkMs + messageMs
  return {
    pair: nameOf(scenario),
    helpers,
    expected,
    outcome: mostFrequent(results.map(({ outcome }) => outcome)) ?? 'none',
    runs: results.length,
    asExpected: results.filter(({ outcome }) => outcome === expected).length,
    candidates: mostFrequent(results.flatMap(({ paths }) => candidatesOf(paths))) ?? null,
    upgraded: results.filter(({ outcome, first }) => outcome === 'direct' && first.some(isRelayed)).length,
    failure: mostFrequent(results.flatMap(({ failures }) => failures)) ?? null,
    reported: mostFrequent(results.flatMap(({ reported }) => reported ?? [])) ?? null,
    processP50Ms: of(0.5, ({ processMs }) => processMs),
    trackerP50Ms: of(0.5, ({ trackerMs }) => trackerMs),
    linkP50Ms: of(0.5, ({ linkMs }) => linkMs),
    linkMinMs: of(0, ({ linkMs }) => linkMs),
    linkMaxMs: of(1, ({ linkMs }) => linkMs),
    messageP50Ms: of(0.5, ({ messageMs }) => messageMs),
    totalP50Ms: of(0.5, total),
  }
}

/** One set-up as a line for people: its way at first and in the end, each as both ends see it. */
export function describeResult({ outcome, first, paths, times, failures }: PairResult): string {
  const text = (ends: PairResult['paths']): string =>
    ends.map((end) => (end ? `${end.local}→${end.remote}` : '–')).join(' / ')
  const after = times === undefined ? failures.join(', ') : `link after ${Math.round(times.linkMs)} ms`
  return `  ${outcome}: ${text(first)}, then ${text(paths)}; ${after}`
}

/** Each end as it says itself: behind a NAT the address that the other side sees. */
function candidatesOf(paths: PairResult['paths']): string[] {
  const [a, b] = paths
  return a && b ? [`${a.local}–${b.local}`] : []
}

function mostFrequent<Value extends string>(values: readonly Value[]): Value | undefined {
  const counts = new Map<Value, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].sort(([, one], [, other]) => other - one)[0]?.[0]
}
