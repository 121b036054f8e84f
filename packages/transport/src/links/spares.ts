import { RareMap, type Cancel, type Clock } from '@runnel/protocol'
import type { Connection } from '../ports.ts'
import { SpareWatch } from './spare-watch.ts'

/** Connections of one link that are kept beside the one in use; a peer that opens more has the oldest of them closed. */
export const maxSpares = 3

/** Another connection of the link is used. */
export const duplicate = 'DUPLICATE_CONNECTION'

export interface SparesOptions {
  /** How long one is looked at, in milliseconds, before it can pass for quiet. */
  readonly lingerMs: number
  /** After so long it passes for quiet in any case, in milliseconds. */
  readonly maxDuplicateMs: number
}

export interface SparesModules {
  readonly clock: Pick<Clock, 'schedule' | 'monotonicMs'>
  /** The connection in use. */
  used(): Connection | undefined
}

/**
 * The connections of a link that another one has replaced, still read. Each is closed once nothing is under way on it and the one in use has
 * proven alive: if that one is dead, its pings show it, and a spare may be the only one that works.
 */
export class Spares {
  readonly #options: SparesOptions
  readonly #modules: SparesModules
  /** The oldest first; each with what ends its watch. */
  readonly #watches = new RareMap<Connection, Cancel>()

  constructor(options: SparesOptions, modules: SparesModules) {
    this.#options = options
    this.#modules = modules
  }

  add(spare: Connection): void {
    const [oldest] = this.#watches.keys()
    if (oldest !== undefined && this.#watches.size >= maxSpares) this.#close(oldest)
    const { maxDuplicateMs: maxMs } = this.#options
    this.#lookLater(spare, new SpareWatch({ maxMs }, { spare, clock: this.#modules.clock }))
  }

  delete(spare: Connection): void {
    this.#watches.get(spare)?.()
    this.#watches.delete(spare)
  }

  /** Gives them up, the oldest first: they are the caller's. */
  takeAll(): readonly Connection[] {
    const all = [...this.#watches.keys()]
    for (const spare of all) this.delete(spare)
    return all
  }

  #lookLater(spare: Connection, watch: SpareWatch): void {
    const { clock, used } = this.#modules
    const before = used()
    const framesIn = before?.stats.framesIn
    const look = (): void => {
      const isAlive = before === used() && before?.stats.framesIn !== framesIn
      if (watch.isQuiet() && isAlive) this.#close(spare)
      else this.#lookLater(spare, watch)
    }
    this.#watches.set(spare, clock.schedule(this.#options.lingerMs, look))
  }

  #close(spare: Connection): void {
    this.delete(spare)
    spare.close(duplicate, '')
  }
}
