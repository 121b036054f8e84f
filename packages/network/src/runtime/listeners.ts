import { isRunnelError } from '@runnel/protocol'
import type { CounterName, Counters } from '../core/counters.ts'
import type { NodeEvents } from '../ports.ts'

type ListenerSets = { [E in keyof NodeEvents]?: Set<NodeEvents[E]> }

/** The application's listeners. What one throws is reported and affects nobody else. */
export class Listeners {
  /** Of events that were ever listened to. */
  readonly #sets: ListenerSets = {}
  readonly #counters: Counters

  constructor(counters: Counters) {
    this.#counters = counters
  }

  add<E extends keyof NodeEvents>(event: E, listener: NodeEvents[E]): () => void {
    const sets: { [F in E]?: Set<NodeEvents[F]> } = this.#sets
    const set = (sets[event] ??= new Set())
    set.add(listener)
    return () => void set.delete(listener)
  }

  emit<E extends keyof NodeEvents>(event: E, ...args: Parameters<NodeEvents[E]>): void {
    const set: Set<NodeEvents[E]> | undefined = this.#sets[event]
    if (set === undefined) return
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
