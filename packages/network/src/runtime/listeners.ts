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
    tracker: new Set(),
    fault: new Set(),
    dropped: new Set(),
  }
  readonly #onThrown: (event: keyof NodeEvents, error: unknown) => void

  constructor(options: { onThrown: (event: keyof NodeEvents, error: unknown) => void }) {
    this.#onThrown = options.onThrown
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
        this.#onThrown(event, error)
      }
    }
  }
}
