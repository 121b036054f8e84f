import { lineFigure } from '../figures/line-figure.ts'
import { createLatencyModel } from '../latency/latency-model.ts'
import { round } from '../measures/statistics.ts'
import { textTable } from '../report/text-table.ts'
import { runCopies, type CopiesReport } from '../scenarios/thin/copies-run.ts'
import type { Experiment } from './experiment.ts'

const defaultNodes = 16
/** Messages of each node in a second. */
const rates = [1, 5, 10, 20, 50]
const seconds = 20

/** What thin floods spare, what they cost in time, and how late messages are when a node is lost. */
export const copies: Experiment = {
  name: 'copies',
  describe: 'copies received per message and delays, with thin floods and without; a node is lost',
  usualNodes: String(defaultNodes),
  async run(options, onProgress) {
    const { nodes = defaultNodes, degree = 4, overlay, latency, seed, repeats = 1 } = options
    const rows = []
    for (const [at, rate] of rates.entries()) {
      for (const thinFloods of [false, true]) {
        const reports: CopiesReport[] = []
        const lost: CopiesReport[] = []
        for (let i = 0; i < repeats; i++) {
          const ofRun = repeats === 1 ? seed : `${seed} ${i}`
          const model = createLatencyModel({ latency, nodes, seed: ofRun })
          const say = (text: string): void =>
            onProgress(`${rate}/s (${at + 1} of ${rates.length}), ${thinFloods ? 'thin' : 'full'}: ${text}`)
          const run = { seed: ofRun, degree, overlay, model, rate, seconds, thinFloods }
          reports.push(await runCopies({ ...run, kills: false }, say))
          lost.push(await runCopies({ ...run, kills: true }, say))
        }
        rows.push({ rate, thinFloods, ...whole(reports), ...afterLoss(lost) })
      }
    }
    const report = { experiment: 'copies', seed, nodes, degree, overlay, latency, repeats, rows }
    const figure = lineFigure({
      name: 'copies',
      title: `Copies received per message, ${nodes} nodes that all publish`,
      xTitle: 'messages of each node a second',
      xScale: 'log',
      yTitle: 'copies',
      points: rows.map(({ rate: x, copies: y, thinFloods }) => ({
        x,
        y,
        series: thinFloods ? 'thin floods' : 'full floods',
      })),
    })
    const cells = rows.map((row) => [
      row.rate,
      row.thinFloods ? 'thin' : 'full',
      row.copies,
      `${row.delivered} of ${row.expected}`,
      ...[
        row.meanMs,
        row.p50Ms,
        row.p99Ms,
        row.late,
        row.lateP50Ms,
        row.lateP99Ms,
        row.lateMaxMs,
        row.lateForMs,
      ],
    ])
    const head = [
      'rate',
      'floods',
      'copies',
      'delivered',
      'mean ms',
      'p50',
      'p99',
      'late',
      'late p50',
      'p99',
      'max',
      'for',
    ]
    return { report, text: textTable(head, cells), figures: [figure] }
  },
}

function whole(reports: readonly CopiesReport[]) {
  const of = (name: keyof CopiesReport): number => reports.reduce((sum, report) => sum + report[name], 0)
  const meanOf = (name: keyof CopiesReport): number => round(of(name) / reports.length)
  return {
    expected: of('expected'),
    delivered: of('delivered'),
    ...{ copies: meanOf('copies'), meanMs: meanOf('meanMs'), p50Ms: meanOf('p50Ms'), p99Ms: meanOf('p99Ms') },
  }
}

/** Of the runs in which a node is lost: the worst of each. */
function afterLoss(reports: readonly CopiesReport[]) {
  const worst = (name: keyof CopiesReport): number =>
    round(Math.max(...reports.map((report) => report[name])))
  return {
    expectedAfterLoss: reports.reduce((sum, { expected }) => sum + expected, 0),
    deliveredAfterLoss: reports.reduce((sum, { delivered }) => sum + delivered, 0),
    ...{ late: worst('late'), lateP50Ms: worst('lateP50Ms'), lateP99Ms: worst('lateP99Ms') },
    ...{ lateMaxMs: worst('lateMaxMs'), lateForMs: worst('lateForMs') },
  }
}
