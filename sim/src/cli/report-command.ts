import type { CommandModule } from 'yargs'
import { writeFigures } from '../figures/write-figures.ts'
import { publishedRecord } from '../published/thesis.ts'
import { readRecord } from '../records/record.ts'
import { showProgress } from './progress.ts'
import { beginBound, minutesOption } from './time-bound.ts'
import { recordNames } from '../report/record-names.ts'
import { drawnExperiments, reportRecords, type NamedRecord } from '../report/records-report.ts'

interface ReportArguments {
  readonly files: string[]
  readonly out: string | undefined
  readonly json: boolean
  readonly minutes: number
}

/** Compares records, also with those of the thesis: `report FILE...`. */
export const reportCommand: CommandModule<object, ReportArguments> = {
  command: 'report <files..>',
  describe: 'compares records of experiments, which --out wrote, with each other and with the thesis',
  builder: {
    files: { type: 'string', array: true, demandOption: true, describe: 'record files, see docs/records.md' },
    json: { type: 'boolean', default: false, describe: 'one line of JSON' },
    out: { type: 'string', describe: `folder for figures, SVG and PNG, of ${drawnExperiments.join(', ')}` },
    ...minutesOption(10),
  },
  handler: async ({ files, out, json, minutes }) => {
    const onProgress = beginBound({ minutes })
    const names = recordNames(files)
    const records = withPublished(
      files.map((file, i) => {
        onProgress(file)
        return { name: names[i] ?? file, record: readRecord(file) }
      }),
    )
    onProgress(`${records.length} records`)
    const { text, figures, undrawn } = reportRecords(records)
    showProgress('')
    process.stdout.write(`${json ? JSON.stringify({ experiment: 'report', records }) : text}\n`)
    if (out === undefined) return
    if (undrawn.length > 0)
      process.stderr.write(
        `nothing is drawn of ${undrawn.join(', ')}, only of ${drawnExperiments.join(', ')}\n`,
      )
    await writeFigures(out, figures)
  },
}

function withPublished(records: readonly NamedRecord[]): NamedRecord[] {
  const experiments = new Set(records.map(({ record }) => record.experiment))
  const published = [...experiments].flatMap((experiment) => publishedRecord(experiment) ?? [])
  return [...records, ...published.map((record) => ({ name: 'thesis', record }))]
}
