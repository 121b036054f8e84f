import { writeFigures } from '@runnel/sim/figures'
import { mediaFigures } from '@runnel/sim/media-figures'
import type { RecordRow } from '@runnel/sim/records'
import { cellOf, textTable } from '@runnel/sim/text-table'
import { writeResults, type Results } from '../cli/write-results.ts'

export interface Runs extends Omit<Results, 'experiment' | 'source'> {
  readonly experiment: keyof typeof mediaFigures
  /** Of the runs that ended. */
  readonly rows: readonly RecordRow[]
  /** How many there were to be. */
  readonly runs: number
  /** For people; ends with a line feed. */
  tabulate(rows: readonly RecordRow[]): string
}

/**
 * Prints the rows there are, and writes them as a record and as figures into a folder where one is given; fewer rows than runs are marked as such, and nothing is done
 * without any. Rejects with OUT_UNWRITABLE.
 */
export async function reportRuns(
  { experiment, rows, runs, tabulate, facts, parameters }: Runs,
  { json, out }: { readonly json: boolean; readonly out: string | undefined },
): Promise<void> {
  if (rows.length === 0) return
  const partial = rows.length < runs ? { partial: `${rows.length} of ${runs} runs` } : undefined
  if (partial !== undefined) process.stderr.write(`${experiment}: only ${partial.partial} ended\n`)
  process.stdout.write(json ? `${JSON.stringify({ experiment, ...partial, rows })}\n` : tabulate(rows))
  if (out === undefined) return
  writeResults(out, { experiment, source: 'emulation', rows, parameters, facts: { ...facts, ...partial } })
  await writeFigures(out, mediaFigures[experiment](experiment, rows))
}

/** A table turned on its side: where there are more figures than rows. */
export function turnedTable(columns: readonly string[], rows: readonly RecordRow[]): string {
  const [head = [], ...rest] = columns.map((column) => [
    column,
    ...rows.map((row) => String(cellOf(row[column]) ?? '')),
  ])
  return `${textTable(head, rest)}\n`
}
