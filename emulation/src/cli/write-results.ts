import { availableParallelism } from 'node:os'
import { parseRecord, writeInto, type RecordRow } from '@runnel/sim/records'
import { latencyFileOf } from '../experiments/delays.ts'
import type { PlaceFacts } from '../places/place.ts'

export interface Results {
  readonly experiment: string
  readonly source: 'emulation' | 'aws'
  readonly parameters: Readonly<Record<string, string | number | boolean | undefined>>
  readonly facts: PlaceFacts
  readonly rows: readonly RecordRow[]
}

/** Writes the record of an experiment into a folder, as its name and `.json`, and of `delays` also latencies.json. Throws OUT_UNWRITABLE. */
export function writeResults(folder: string, results: Results): void {
  const { experiment, source, parameters, facts, rows } = results
  const environment = {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cpus: availableParallelism(),
    elapsedS: Math.round(process.uptime()),
    ...facts,
  }
  const given = Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, value ?? null]))
  const head = { format: 'runnel-record', version: 1, experiment, source, parameters: given, environment }
  // Checked as a reader will: what is refused then is better refused now.
  const record = parseRecord(JSON.stringify({ ...head, rows }), experiment)
  write(`${experiment}.json`, record)
  if (experiment !== 'delays') return
  const latencies = latencyFileOf(rows, `pings between hosts, ${new Date().toISOString().slice(0, 10)}`)
  if (latencies !== undefined) write('latencies.json', latencies)

  function write(name: string, value: object): void {
    writeInto(folder, name, `${JSON.stringify(value, undefined, 2)}\n`)
  }
}
