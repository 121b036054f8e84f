import { lineFigure } from '../figures/line-figure.ts'
import { createLatencyModel } from '../latency/latency-model.ts'
import { percentile, round } from '../measures/statistics.ts'
import { textTable } from '../report/text-table.ts'
import { placesFor, runChurn, type ChurnReport } from '../scenarios/churn/churn-run.ts'
import type { Experiment } from './experiment.ts'

const defaultNodes = 256
/** Percent of the nodes that leave in a minute; as many join. */
const rates = [1, 2, 5, 10, 20, 50, 'half'] as const

/** How an overlay bears that nodes come and go. */
export const churn: Experiment = {
  name: 'churn',
  describe:
    'nodes come and go, 1 % to 50 % a minute, and half of them at once: who misses what, for how long?',
  takesFloods: true,
  ignores: ['repeats'],
  usualNodes: String(defaultNodes),
  async run(options, onProgress) {
    const { nodes = defaultNodes, degree = 4, overlay, latency, seed, thinFloods } = options
    const messagesPerS = options.rate
    const rows: ReturnType<typeof rowOf>[] = []
    for (const [at, rate] of rates.entries()) {
      const model = createLatencyModel({ latency, nodes: placesFor(nodes, rate), seed })
      const say = (text: string): void =>
        onProgress(`${rateName(rate)} (${at + 1} of ${rates.length}): ${text}`)
      const run = { seed, nodes, degree, overlay, model, rate, thinFloods, messagesPerS }
      rows.push(rowOf(rate, await runChurn(run, say)))
    }
    const given = { seed, nodes, degree, overlay, latency, thinFloods, messagesPerS }
    const report = { experiment: 'churn', ...given, rows }
    const steady = rows.flatMap((row) => (row.rate === 'half' ? [] : [{ ...row, rate: row.rate }]))
    const figures = [
      lineFigure({
        name: 'churn-recovery',
        title: `Until all whom a join or leave concerns have their degree, ${nodes} nodes, ${overlay}`,
        xTitle: '% of the nodes that leave, and join, a minute',
        xScale: 'log',
        yTitle: 's',
        points: steady.flatMap(({ rate: x, recoveryP50S, recoveryP99S, recoveryMaxS }) =>
          Object.entries({ p50: recoveryP50S, p99: recoveryP99S, max: recoveryMaxS }).flatMap(
            ([series, y]) => (y === null ? [] : [{ x, y, series }]),
          ),
        ),
      }),
      lineFigure({
        name: 'churn-control',
        title: `Control messages, ${nodes} nodes, ${overlay}`,
        xTitle: '% of the nodes that leave, and join, a minute',
        xScale: 'log',
        yTitle: 'per node and minute',
        points: steady.map(({ rate: x, controlPerNodeMinute: y }) => ({ x, y, series: 'without heads' })),
      }),
    ]
    return { report, text: describe(rows), figures }
  },
}

function rowOf(rate: number | 'half', report: ChurnReport) {
  const { recoveriesMs, expected, delivered } = report
  const seconds = recoveriesMs.map((ms) => (ms === null ? Infinity : ms / 1000))
  /** null: not before the end of the run. */
  const at = (share: number): number | null => {
    const value = percentile(seconds, share)
    return value === undefined || value === Infinity ? null : round(value)
  }
  return {
    rate,
    joins: report.joins,
    leaves: report.leaves,
    survivors: report.survivors,
    expected,
    delivered,
    complete: delivered / expected,
    ...{ copies: report.copies, p50Ms: report.p50Ms, p99Ms: report.p99Ms, maxMs: report.maxMs },
    recoveryP50S: at(0.5),
    recoveryP99S: at(0.99),
    recoveryMaxS: at(1),
    controlPerNodeMinute: round(report.controlPerNodeMinute),
    headsPerNodeMinute: round(report.headsPerNodeMinute),
    edgeChangesPerNodeMinute: round(report.edgeChangesPerNodeMinute),
  }
}

function rateName(rate: number | 'half'): string {
  return rate === 'half' ? 'half at once' : `${rate} % a minute`
}

function describe(rows: readonly ReturnType<typeof rowOf>[]): string {
  const counts = ['churn', 'joins', 'leaves', 'survivors', 'expected', 'delivered']
  const head = [...counts, 'copies', 'p50 ms', 'p99', 'max', 'right again p50 s', 'p99']
  const cells = rows.map((row) => [
    rateName(row.rate),
    row.joins,
    row.leaves,
    row.survivors,
    row.expected,
    row.delivered,
    ...[row.copies, row.p50Ms, row.p99Ms, row.maxMs],
    row.recoveryP50S ?? undefined,
    row.recoveryP99S ?? undefined,
    row.recoveryMaxS ?? undefined,
    row.controlPerNodeMinute,
    row.headsPerNodeMinute,
    row.edgeChangesPerNodeMinute,
  ])
  return textTable([...head, 'max', 'control/node/min', 'heads/node/min', 'edges/node/min'], cells)
}
