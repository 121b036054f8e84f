import type { NodeAdmission, NodeId } from '@runnel/protocol'

/** Everybody is listed but those a test removes. */
export class RemovableNodes implements NodeAdmission {
  readonly isPrivate = true
  #only: NodeId | undefined
  readonly #removed = new Set<NodeId>()
  readonly #listeners = new Set<() => void>()

  allows(userId: NodeId): boolean {
    return !this.#removed.has(userId) && (this.#only === undefined || this.#only === userId)
  }

  /** Nobody else is listed from now on. */
  listOnly(userId: NodeId): void {
    this.#only = userId
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  remove(nodeId: NodeId): void {
    this.#removed.add(nodeId)
    for (const listener of this.#listeners) listener()
  }

  get isWatched(): boolean {
    return this.#listeners.size > 0
  }
}
