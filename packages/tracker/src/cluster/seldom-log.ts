import type { Clock } from '@runnel/protocol'
import type { TrackerLogger } from '../logger.ts'

/** How long the same kind of warning is not repeated. */
const quietMs = 60_000
/** Kinds for which the time of the last warning is remembered. */
const maxKinds = 1_024

/** Warnings that others could provoke without limit: one a minute of each kind. The counters have them all. */
export class SeldomLog {
  readonly #modules: { readonly clock: Clock; readonly logger: TrackerLogger }
  readonly #saidAt = new Map<string, number>()

  constructor(modules: { readonly clock: Clock; readonly logger: TrackerLogger }) {
    this.#modules = modules
  }

  warn(kind: string, details: object, text: string): void {
    const { clock, logger } = this.#modules
    const nowMs = clock.monotonicMs()
    if (nowMs - (this.#saidAt.get(kind) ?? -Infinity) < quietMs) return
    if (this.#saidAt.size >= maxKinds) this.#saidAt.clear()
    this.#saidAt.set(kind, nowMs)
    logger.warn({ kind, ...details }, text)
  }
}
