/** Time that some work may take. */
export interface TimeLimit {
  /** Aborted when time is up. */
  readonly signal: AbortSignal
  /** The work is done. Idempotent. */
  end(): void
}

/**
 * Aborts after so many milliseconds. Until then or `end` the process does not end, unlike with AbortSignal.timeout: where nothing else keeps it, a bench would
 * end without a word of what it waited for.
 */
export function timeLimit(limitMs: number): TimeLimit {
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), limitMs)
  return { signal: limit.signal, end: () => clearTimeout(timer) }
}
