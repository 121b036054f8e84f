import { isRunnelError } from '@runnel/protocol'
import type { CounterName, Counters } from '../core/counters.ts'
import type { NodeEvents } from '../ports.ts'

type ListenerSets = { [E in keyof NodeEvents]: Set<NodeEvents[E]> }

/** The application's listeners. What one throws is reported and affects nobody else. */
export class Listeners {
  readonly #sets: ListenerSets = {
    message: new Set(),
    batch: new Set(),
    duplicate: new Set(),
    equivocation: new Set(),
    gap: new Set(),
    direct: new Set(),
    linkClosed: new Set(),
    linkFailed: new Set(),
    neighbours: new Set(),
    host: new Set(),
    withheld: new Set(),
    guestPart: new Set(),
    tracker: new Set(),
    replaced: new Set(),
    fault: new Set(),
    dropped: new Set(),
    urgentRate: new Set(),
    urgentDropped: new Set(),
  }
  readonly #counters: Counters

  constructor(counters: Counters) {
    this.#counters = counters
  }

  add<E extends keyof NodeEvents>(event: E, listener: NodeEvents[E]): () => void {
    const set: Set<NodeEvents[E]> = this.#sets[event]
    set.add(listener)
    return () => void set.delete(listener)
  }

  emit<E extends keyof NodeEvents>(event: E, ...args: Parameters<NodeEvents[E]>): void {
    const set: Set<NodeEvents[E]> = this.#sets[event]
    for (const listener of set) {
      try {
        ;(listener as (...args: Parameters<NodeEvents[E]>) => void)(...args)
      } catch (error) {
        this.#threw(event, error)
      }
    }
  }

  /** Counts something that was dropped, and tells of it. */
  drop(counter: CounterName, detail: string): void {
    this.#counters[counter]++
    this.emit('dropped', counter, detail)
  }

  #threw(event: keyof NodeEvents, error: unknown): void {
    const text = isRunnelError(error) ? error.code : error instanceof Error ? error.message : String(error)
    if (event === 'dropped') this.#counters['listener.failed']++
    else this.drop('listener.failed', `${event}: ${text}`)
  }
}
