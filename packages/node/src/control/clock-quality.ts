import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** How good the wall clock of this machine is. */
export interface ClockQuality {
  /** `chrony`, or `unknown` where it does not run. */
  readonly source: 'chrony' | 'unknown'
  /** By how much the clock is fast, as chrony has it; negative when slow. */
  readonly offsetMs: number | null
  /** The most it can be off: half the delay to the reference, and its dispersion. */
  readonly errorMs: number | null
}

const unknownQuality: ClockQuality = { source: 'unknown', offsetMs: null, errorMs: null }
/** How long chrony may take to answer. */
const timeoutMs = 2_000

/** Asks chrony. Never rejects. */
export async function clockQuality(): Promise<ClockQuality> {
  try {
    const { stdout } = await promisify(execFile)('chronyc', ['-c', 'tracking'], { timeout: timeoutMs })
    return parseTracking(stdout)
  } catch {
    return unknownQuality
  }
}

/** Reads what `chronyc -c tracking` prints: a line of comma-separated values (its manual, section "tracking"). */
export function parseTracking(line: string): ClockQuality {
  const fields = line.trim().split(',')
  const [offsetS, delayS, dispersionS] = [fields[4], fields[10], fields[11]].map(Number)
  const isSynchronized = fields.at(-1) !== 'Not synchronised'
  if (offsetS === undefined || delayS === undefined || dispersionS === undefined) return unknownQuality
  if (!isSynchronized || [offsetS, delayS, dispersionS].some(Number.isNaN)) return unknownQuality
  return { source: 'chrony', offsetMs: offsetS * 1000, errorMs: (delayS / 2 + dispersionS) * 1000 }
}
