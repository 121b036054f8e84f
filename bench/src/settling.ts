import { setTimeout as pause } from 'node:timers/promises'
import { benchError } from './errors.ts'

const lookEveryMs = 5

export interface SettlingOptions {
  /** What is waited for. */
  isDone(): boolean
  /** Grows while something happens. */
  progress(): number
  /** It is over without being done when nothing has happened for so long. */
  readonly quietMs: number
}

/**
 * Waits until it is done, or until nothing happens any more: a link that refuses a packet, or an edge that is exchanged,
 * changes what there is to wait for. Returns the moment of the last progress, by `performance.now()`, and whether it was done.
 */
export async function settled({ isDone, progress, quietMs }: SettlingOptions) {
  let last = progress()
  let lastMs = performance.now()
  while (!isDone()) {
    await pause(lookEveryMs)
    const now = progress()
    if (now === last) {
      if (performance.now() - lastMs >= quietMs) return { done: false, endMs: lastMs }
      continue
    }
    last = now
    lastMs = performance.now()
  }
  return { done: true, endMs: performance.now() }
}

/** Rejects with TOO_SLOW when the work takes longer than that; a benchmark has no other way out of a wait for what never comes. */
export async function within<T>(
  limitMs: number,
  what: string | (() => string),
  work: Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const limit = pause(limitMs, undefined, { signal: controller.signal }).then(() => {
    const doing = typeof what === 'string' ? what : what()
    throw benchError('TOO_SLOW', `${doing} did not end within ${limitMs / 1000} s`)
  })
  try {
    return await Promise.race([work, limit])
  } finally {
    controller.abort()
    limit.catch(() => {})
  }
}
