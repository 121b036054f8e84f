import type { Clock } from '../ports.ts'

/**
 * The same time, but what a scheduled call throws goes to `onFault`: nobody else could catch it, and it would end the
 * process. `onFault` must not throw.
 */
export function guardedClock(clock: Clock, onFault: (error: unknown) => void): Clock {
  const guarded = (call: () => void) => () => {
    try {
      call()
    } catch (error) {
      onFault(error)
    }
  }
  return {
    now: () => clock.now(),
    monotonicMs: () => clock.monotonicMs(),
    schedule: (delayMs, fn) => clock.schedule(delayMs, guarded(fn)),
    endOfTurn: (fn) => clock.endOfTurn(guarded(fn)),
  }
}
