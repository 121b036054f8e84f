import { readFileSync } from 'node:fs'
import { parseLatencyTable, type LatencyTable } from '@runnel/sim/latency'
import * as z from 'zod'

const file = new URL('../../../sim/src/latency/aws-one-way-delays.json', import.meta.url)

/** Table 5.1 of the thesis, as the simulator has it, and where it comes from. */
export function awsTable(): { readonly table: LatencyTable; readonly source: string } {
  const text = readFileSync(file, 'utf8')
  const { source } = z.object({ source: z.string() }).parse(JSON.parse(text))
  return { table: parseLatencyTable(text), source }
}
