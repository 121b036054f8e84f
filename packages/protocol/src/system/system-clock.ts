import type { Clock } from '../ports.ts'
import { HeldTimers } from './held-timers.ts'

/** Runs a function after the events of this turn, as `setImmediate` does; browsers have it as a message to oneself. */
function endOfTurnScheduler(): (fn: () => void) => void {
  if (typeof setImmediate === 'function') return (fn) => void setImmediate(fn)
  if (typeof MessageChannel !== 'function') return queueMicrotask
  const { port1, port2 } = new MessageChannel()
  const waiting: (() => void)[] = []
  port1.addEventListener('message', () => waiting.shift()?.())
  port1.start()
  return (fn) => {
    waiting.push(fn)
    port2.postMessage(undefined)
  }
}

export interface SystemClockOptions {
  /**
   * Whether a Node process stays alive for a scheduled call. True where waiting is the work, such as the pause before
   * dialling again; false for housekeeping that must not hold up the end.
   */
  readonly keepsProcessAlive: boolean
}

export interface SystemClock extends Clock {
  /** In a page, when something came: makes up for timers that the browser holds back. */
  catchUp(): void
}

/** The system's time. What is scheduled for later than 2³¹ ms, 24.8 days, from now is called then already. */
export function createSystemClock(options: SystemClockOptions): SystemClock {
  const monotonicMs = (): number => performance.now()
  const endOfTurn = endOfTurnScheduler()
  const held = new HeldTimers({ clock: { monotonicMs, endOfTurn } })
  return {
    now: () => Date.now(),
    monotonicMs,
    schedule(delayMs, fn) {
      const call = (): void => {
        cancel()
        fn()
      }
      // A timer with a longer delay fires at once.
      const timer: unknown = setTimeout(call, Math.min(delayMs, 2 ** 31 - 1))
      const release = isNodeTimer(timer) ? undefined : held.add(delayMs, call)
      const cancel = (): void => {
        release?.()
        clearTimeout(timer as ReturnType<typeof setTimeout>)
      }
      if (!options.keepsProcessAlive && isNodeTimer(timer)) timer.unref()
      return cancel
    },
    endOfTurn,
    catchUp: () => held.catchUp(),
  }
}

/** In a browser a timer is a number. */
function isNodeTimer(timer: unknown): timer is NodeJS.Timeout {
  return typeof timer === 'object' && timer !== null && 'unref' in timer
}

/** The clock of a production process. What is stopped cancels what it has scheduled, and then the process can end. */
export const systemClock: SystemClock = createSystemClock({ keepsProcessAlive: true })
