import { availableParallelism } from 'node:os'
import { parseRecord, type ExperimentRecord } from './record.ts'
import { writeInto } from './write-into.ts'

/** What a record holds in addition to the measurements. */
export type RecordHead = Pick<ExperimentRecord, 'experiment' | 'parameters'>

/** Writes the record of a simulated experiment into a folder, as its name and `.json`. Gives the path. Throws OUT_UNWRITABLE. */
export function writeRecord(folder: string, report: object, head: RecordHead): string {
  const text = `${JSON.stringify(makeRecord(report, head), undefined, 2)}\n`
  return writeInto(folder, `${head.experiment}.json`, text)
}

/** A report with `rows` has them as its rows, any other is the only row itself. Throws INVALID_RECORD for one that is neither. */
export function makeRecord(report: object, head: RecordHead): ExperimentRecord {
  const rows = 'rows' in report ? report.rows : [report]
  const { user, system } = process.cpuUsage()
  const environment = {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cpus: availableParallelism(),
    elapsedS: Math.round(process.uptime()),
    cpuS: Math.round((user + system) / 1e6),
    maxRssMiB: Math.round(process.resourceUsage().maxRSS / 1024),
  }
  const format = { format: 'runnel-record', version: 1, source: 'sim' }
  // What JSON has no number for becomes null.
  return parseRecord(JSON.stringify({ ...format, ...head, environment, rows }))
}
