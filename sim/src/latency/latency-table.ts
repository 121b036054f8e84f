import { simError } from '../errors.ts'
import { readText } from '../records/read-text.ts'

/** Mean one-way delays between regions. */
export interface LatencyTable {
  readonly regions: readonly string[]
  /** `oneWayMs[from][to]`, in milliseconds; the diagonal is within a region. */
  readonly oneWayMs: readonly (readonly number[])[]
}

/** Regions in a table. */
const maxRegions = 2_000
const maxFileBytes = 64 * 1024 * 1024
/** The longest delay that makes sense. */
const maxOneWayMs = 60_000

/** Reads a table from a file of JSON. Throws UNREADABLE_LATENCIES and INVALID_LATENCIES. */
export function readLatencyTable(path: string | URL): LatencyTable {
  return parseLatencyTable(
    readText(path, {
      maxFileBytes,
      unreadable: (cause) => simError('UNREADABLE_LATENCIES', String(path), { cause }),
      tooLarge: (bytes) =>
        simError('INVALID_LATENCIES', `${String(path)} has ${bytes} bytes, more than ${maxFileBytes}`),
    }),
  )
}

/** Checks every field: the text may come from anywhere. Throws INVALID_LATENCIES. */
export function parseLatencyTable(text: string): LatencyTable {
  const { regions, oneWayMs } = parseObject(text)
  if (!Array.isArray(regions) || regions.length === 0 || regions.length > maxRegions)
    throw simError('INVALID_LATENCIES', `"regions" must be a list of 1 to ${maxRegions} names`)
  if (!regions.every((name): name is string => typeof name === 'string' && name !== ''))
    throw simError('INVALID_LATENCIES', '"regions" contains an invalid name')
  if (new Set(regions).size !== regions.length)
    throw simError('INVALID_LATENCIES', '"regions" has a name twice')
  if (!Array.isArray(oneWayMs) || oneWayMs.length !== regions.length)
    throw simError('INVALID_LATENCIES', `"oneWayMs" must have ${regions.length} rows`)
  return { regions, oneWayMs: oneWayMs.map((row, from) => checkedRow(row, from, regions.length)) }
}

function checkedRow(row: unknown, from: number, length: number): number[] {
  if (!Array.isArray(row) || row.length !== length)
    throw simError('INVALID_LATENCIES', `row ${from} of "oneWayMs" must have ${length} numbers`)
  return row.map((delayMs: unknown, to) => {
    if (typeof delayMs !== 'number' || !(delayMs >= 0 && delayMs <= maxOneWayMs))
      throw simError('INVALID_LATENCIES', `"oneWayMs"[${from}][${to}] must be from 0 to ${maxOneWayMs}`)
    return delayMs
  })
}

function parseObject(text: string): Partial<Record<string, unknown>> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw simError('INVALID_LATENCIES', 'not JSON', { cause })
  }
  if (typeof value !== 'object' || value === null) throw simError('INVALID_LATENCIES', 'not an object')
  return { ...value }
}
