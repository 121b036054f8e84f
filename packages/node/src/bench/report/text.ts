import Table from 'cli-table3'
import { plainLayout } from '../../cli/plain-layout.ts'
import { measuredText } from '../core/aims.ts'
import { percent, short } from '../core/figures.ts'
import { lossText } from '../core/loss.ts'
import type { DelaySummary } from '../load/histogram.ts'
import type { RunReport } from './run-report.ts'

/** A report for a terminal or a log. */
export function reportText(report: RunReport): string {
  return [delaysText(report), ...linesText(report)].join('\n')
}

/** A table of times. */
export function delaysText(report: RunReport): string {
  const delays = new Table({
    ...plainLayout,
    head: ['', 'p50', 'p90', 'p95', 'p99', 'p99.9', 'max', 'number'],
  })
  const rows = [
    ['delay ms', report.delays],
    ['join ms', report.joins],
    ['sent late ms', report.lateness],
  ] as const
  for (const [name, summary] of rows) if (summary) delays.push([name, ...delayCells(summary)])
  return delays.toString().replace(/ +$/gm, '')
}

/** What else was measured, and the verdict. */
export function linesText(report: RunReport): readonly string[] {
  const { published, received, expected, duplicates, disordered, lossPercent } = report
  const came = lossPercent === undefined ? `${received}` : `${received} of ${expected}`
  return [
    `${published} published, ${came} received (${lossPercentText(lossPercent)}), ${duplicates} twice, ${disordered} out of order`,
    ...report.generators.map(
      ({ name, cpuShare, rssBytes }) =>
        `${name}: ${percent(cpuShare * 100)} of a core, ${Math.round(rssBytes / 2 ** 20)} MiB`,
    ),
    ...report.processes.flatMap(({ name, cpuShare }) =>
      cpuShare === undefined ? [] : [`${name}: ${percent(cpuShare * 100)} of a core`],
    ),
    `users: ${report.plan.kind}; left out: ${report.leavesOut}`,
    ...Object.entries(report.errors).map(([text, count]) => `error ×${count}: ${text}`),
    ...report.doubts.map(({ text }) => `DOUBT: ${text}`),
    ...[lossText(report.losses)].filter((text) => text !== undefined),
    ...report.aims.map((result) => `${result.met ? 'met' : 'MISSED'}: ${measuredText(result)}`),
  ]
}

/** For people: of what should have come. */
export function lossPercentText(lossPercent: number | undefined): string {
  return lossPercent === undefined ? 'loss not measured' : `${percent(lossPercent)} lost`
}

function delayCells({ p50Ms, p90Ms, p95Ms, p99Ms, p999Ms, maxMs, count }: DelaySummary): (string | number)[] {
  return [...[p50Ms, p90Ms, p95Ms, p99Ms, p999Ms, maxMs].map(short), count]
}
