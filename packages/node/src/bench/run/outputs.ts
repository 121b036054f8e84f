import type { BenchArguments } from '../../commands/bench-options.ts'
import { notice } from '../../cli/output.ts'
import { requireWritable, writeTextFile } from '../../cli/write-file.ts'
import type { SecondFigures } from '../load/seconds.ts'
import { csvOf } from '../report/csv.ts'
import { reportPage, type FindReport } from '../report/html.ts'
import { LiveView } from '../report/live.ts'
import { servePrometheus, type PrometheusPage } from '../report/prometheus.ts'
import type { RunReport } from '../report/run-report.ts'
import { reportText } from '../report/text.ts'

type OutputOptions = Pick<BenchArguments, 'csv' | 'report'> & { readonly json: boolean }

/** Where a bench says how it is doing, and what it found: a terminal, files, Prometheus. */
export class Outputs {
  readonly #options: OutputOptions
  readonly #live = new LiveView()
  readonly #prometheus: PrometheusPage | undefined

  private constructor(options: OutputOptions, prometheus: PrometheusPage | undefined) {
    this.#options = options
    this.#prometheus = prometheus
  }

  /** Files that cannot be written are known before anything starts. Throws FILE_UNWRITABLE, DISK_FULL, and USAGE for the port. */
  static async open(options: OutputOptions & Pick<BenchArguments, 'prometheus'>): Promise<Outputs> {
    for (const file of [options.csv, options.report]) if (file !== undefined) requireWritable(file)
    const page = options.prometheus === undefined ? undefined : await servePrometheus(options.prometheus)
    if (page !== undefined) notice(`figures for Prometheus: ${page.url}`)
    return new Outputs(options, page)
  }

  phase(text: string): void {
    this.#live.phase(text)
  }

  second(second: SecondFigures): void {
    this.#live.second(second)
    this.#prometheus?.show(second)
  }

  /** Throws FILE_UNWRITABLE and DISK_FULL. */
  report(report: RunReport, find?: FindReport): void {
    this.#live.end()
    const { csv, report: page, json } = this.#options
    const text = json
      ? JSON.stringify({ ...report, found: find?.found })
      : [reportText(report), ...(find?.lines ?? [])].join('\n')
    // First, as a disk may be full by now: the figures are there all the same.
    process.stdout.write(`${text}\n`)
    if (csv !== undefined) writeTextFile(csv, csvOf(report))
    if (page !== undefined) writeTextFile(page, reportPage(report, find))
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.#live.end()
    await this.#prometheus?.stop()
  }
}
