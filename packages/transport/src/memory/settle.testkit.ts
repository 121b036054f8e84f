import type { VirtualClock } from './virtual-clock.ts'

/** Far more than any test needs. */
const maxVirtualMs = 3_600_000

/** Advances a virtual clock until a promise is settled. Fails when it would never be. */
export async function settleOn<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
  let settled = false
  const settle = (): void => void (settled = true)
  promise.then(settle, settle)
  const untilMs = clock.monotonicMs() + maxVirtualMs
  for (;;) {
    // All pending promise callbacks run before the next event.
    await new Promise((resolve) => setImmediate(resolve))
    if (settled) return promise
    const nextAtMs = clock.nextAtMs
    if (nextAtMs === undefined || nextAtMs > untilMs) throw new Error('nothing more will happen')
    clock.advanceTo(nextAtMs)
  }
}
