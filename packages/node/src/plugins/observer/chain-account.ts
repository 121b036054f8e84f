import { compareRefs, type MessageRef } from '@runnel/protocol'

/** How many of the last messages of a chain are remembered, to tell a repeated one from a late one. */
export const maxRemembered = 1_000

/** What was seen of one publisher's chain of messages. */
export interface ChainTotals {
  /** Messages seen for the first time. */
  readonly delivered: number
  /** Messages given to the application again: must be 0. */
  readonly repeated: number
  /** Messages that later ones refer to and that did not come (yet). */
  readonly missing: number
  /** Messages older than all that is remembered: they may be late or repeated. */
  readonly tooOld: number
  readonly last: MessageRef | undefined
}

/** Checks, from outside, that every message of a chain is delivered exactly once. */
export interface ChainAccount {
  record(ref: MessageRef, previous: MessageRef | undefined): void
  totals(): ChainTotals
}

export function createChainAccount(): ChainAccount {
  // Both in order of insertion, so that the oldest is the first.
  const seen = new Set<string>()
  const missing = new Set<string>()
  let delivered = 0
  let repeated = 0
  let tooOld = 0
  let last: MessageRef | undefined
  let horizon: MessageRef | undefined

  const record = (ref: MessageRef, previous: MessageRef | undefined) => {
    const id = idOf(ref)
    if (seen.has(id)) {
      repeated++
      return
    }
    missing.delete(id)
    if (horizon && compareRefs(ref, horizon) <= 0) {
      tooOld++
      return
    }
    // What came before the first message seen here is not this account's business.
    if (previous && last && !seen.has(idOf(previous)) && !isForgotten(previous)) missing.add(idOf(previous))
    seen.add(id)
    delivered++
    if (!last || compareRefs(ref, last) > 0) last = ref
    if (seen.size > maxRemembered) forgetOldest()
    if (missing.size > maxRemembered) missing.delete(firstOf(missing))
  }
  const isForgotten = (ref: MessageRef) => horizon !== undefined && compareRefs(ref, horizon) <= 0
  const forgetOldest = () => {
    const oldest = firstOf(seen)
    seen.delete(oldest)
    const ref = refOf(oldest)
    if (!horizon || compareRefs(ref, horizon) > 0) horizon = ref
  }
  return { record, totals: () => ({ delivered, repeated, missing: missing.size, tooOld, last }) }
}

function firstOf(set: ReadonlySet<string>): string {
  const [first = ''] = set
  return first
}

function idOf({ timestamp, sequenceNumber }: MessageRef): string {
  return `${timestamp}.${sequenceNumber}`
}

function refOf(id: string): MessageRef {
  const [timestamp, sequenceNumber] = id.split('.').map(Number)
  return { timestamp: timestamp ?? 0, sequenceNumber: sequenceNumber ?? 0 }
}
