import type { Clock } from '@runnel/protocol'

/**
 * The clock of a process that starts now: its monotonic time begins with it, as that of a real one does. Otherwise all nodes of a world would do at
 * the same instant what each does with the seconds of its clock, and no network is like that.
 */
export function processClock(clock: Clock): Clock {
  const startedMs = clock.monotonicMs()
  return {
    now: () => clock.now(),
    monotonicMs: () => clock.monotonicMs() - startedMs,
    schedule: (delayMs, fn) => clock.schedule(delayMs, fn),
    endOfTurn: (fn) => clock.endOfTurn(fn),
  }
}
