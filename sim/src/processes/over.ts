import { simError } from '../errors.ts'

/** The end of the time of work in other processes, which leaves this one free for timers. */
export interface Over {
  /** Rejects with TOO_SLOW. */
  readonly promise: Promise<never>
  /** Idempotent. */
  cancel(): void
}

/** `doing` names what was under way. */
export function overAfter(minutes: number, doing: () => string): Over {
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => {})
  const late = () => reject(simError('TOO_SLOW', `${doing()}, after ${minutes} min`))
  const timer = setTimeout(late, 60_000 * minutes)
  return { promise, cancel: () => clearTimeout(timer) }
}
