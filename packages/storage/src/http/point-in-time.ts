import type { MessageRef } from '@runnel/protocol'

const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
/** The sign may be left out: it is always in the past. */
const relative = /^-?(\d+(?:\.\d+)?)(ms|s|m|h|d)$/
const place = /^(\d{1,15})(?:-(\d{1,10}))?$/
const lastTimestamp = 2 ** 48 - 1
const lastSequenceNumber = 2 ** 32 - 1

/** What a point in time may look like, for messages to people. */
export const pointHelp =
  'a time such as 2030-01-31T12:00:00Z, Unix milliseconds, a place such as 1700000000000-3, or -10m for ten minutes ago'

/**
 * The first or the last place of a chain that a text means. Undefined when it means none. A time without a sequence
 * number is all of that millisecond; a date without an offset is of this machine's time zone.
 */
export function parsePoint(text: string, end: 'first' | 'last', nowMs: number): MessageRef | undefined {
  const [, digits, sequence] = place.exec(text) ?? []
  const timestamp = digits === undefined ? timeOf(text, nowMs) : Number(digits)
  if (timestamp === undefined || !(timestamp >= 0 && timestamp <= lastTimestamp)) return undefined
  if (sequence === undefined) {
    return { timestamp, sequenceNumber: end === 'first' ? 0 : lastSequenceNumber }
  }
  const sequenceNumber = Number(sequence)
  return sequenceNumber <= lastSequenceNumber ? { timestamp, sequenceNumber } : undefined
}

/** The last place of all. */
export const endOfTime: MessageRef = { timestamp: lastTimestamp, sequenceNumber: lastSequenceNumber }

function timeOf(text: string, nowMs: number): number | undefined {
  const [, amount, unit] = relative.exec(text) ?? []
  if (amount !== undefined) return Math.round(nowMs - Number(amount) * unitMs[unit as keyof typeof unitMs])
  const ms = /^\d{4}-/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}
