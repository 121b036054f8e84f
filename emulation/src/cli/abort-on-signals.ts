import { sameMomentMs } from '../../../packages/node/src/cli/stop-signal.ts'
import { emulationError } from '../errors.ts'

/**
 * Aborts with INTERRUPTED at the first SIGINT, SIGTERM or SIGHUP. The same one in the same moment counts once: to a whole group it comes
 * from the system, and again from each process that passes signals on. A later one ends this process at once.
 */
export function abortOnSignals(stop: AbortController): void {
  let firstMs = Infinity
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(name, () => {
      const nowMs = performance.now()
      if (nowMs - firstMs >= sameMomentMs) process.exit(130)
      firstMs = Math.min(firstMs, nowMs)
      stop.abort(emulationError('INTERRUPTED', name))
    })
}
