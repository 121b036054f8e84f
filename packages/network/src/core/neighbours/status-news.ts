import type { NetworkLimits } from '../../limits.ts'
import type { OverlayEffects } from '../overlay-effects.ts'
import type { ReportedLinks, StreamPart } from '../stream-part/stream-part.ts'
import type { StreamPartMap } from '../stream-part/stream-part-map.ts'

export interface StatusNewsModules extends ReportedLinks {
  readonly effects: Pick<OverlayEffects, 'statusDue'>
  readonly parts: StreamPartMap
}

/**
 * Whether what the last statuses said of links has changed: one that became slower, or goes by another transport, is news for each stream
 * part that uses it. Looked at for all of them at once: with a time for each, a node in a thousand would wake up many times a second.
 */
export class StatusNews {
  readonly #limits: Pick<NetworkLimits, 'rttCheckMs' | 'maxRttReports'>
  readonly #modules: StatusNewsModules
  #dueMs = Infinity
  /** How many stream parts were looked at: whose turn it is next. */
  #turn = 0

  constructor(limits: Pick<NetworkLimits, 'rttCheckMs' | 'maxRttReports'>, modules: StatusNewsModules) {
    this.#limits = limits
    this.#modules = modules
  }

  /** When `tick` is due; Infinity while no status was taken. */
  get dueMs(): number {
    return this.#dueMs
  }

  /** From now on it is looked whether what it said changes. */
  statusTaken(nowMs: number): void {
    if (this.#dueMs === Infinity) this.#dueMs = nowMs + this.#limits.rttCheckMs
  }

  /** Of very many stream parts with news some wait for the next time. */
  tick(nowMs: number): void {
    if (this.#dueMs > nowMs) return
    const { parts } = this.#modules
    const { rttCheckMs, maxRttReports } = this.#limits
    this.#dueMs = parts.size === 0 ? Infinity : nowMs + rttCheckMs
    const all = [...parts]
    const first = this.#turn % Math.max(1, all.length)
    let left = maxRttReports
    for (const part of [...all.slice(first), ...all.slice(0, first)]) {
      if (left === 0) break
      this.#turn++
      if (parts.within(part, () => this.report(part)) === true) left--
    }
  }

  /** Has a status sent where there is news; true then. */
  report(part: StreamPart): boolean {
    const isNews = part.hasNews(this.#modules)
    if (isNews) this.#modules.effects.statusDue(part.id)
    return isNews
  }
}
