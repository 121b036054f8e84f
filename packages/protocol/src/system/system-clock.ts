import type { Clock } from '../ports.ts'

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

/** The system's time. Its timers do not keep a Node process alive: open sockets do, and a stopped node should end. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  schedule(delayMs, fn) {
    const timer: unknown = setTimeout(fn, delayMs)
    if (isNodeTimer(timer)) timer.unref()
    return () => clearTimeout(timer as ReturnType<typeof setTimeout>)
  },
  endOfTurn: endOfTurnScheduler(),
}

/** In a browser a timer is a number. */
function isNodeTimer(timer: unknown): timer is NodeJS.Timeout {
  return typeof timer === 'object' && timer !== null && 'unref' in timer
}
