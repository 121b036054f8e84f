import type { NodeAdmission, NodeId } from '@runnel/protocol'

/** Which nodes the registry lists, as far as is known. It is told what the registry says; it never asks. */
export class RegistryAdmission implements NodeAdmission {
  #nodes: ReadonlySet<NodeId> | undefined
  readonly #listeners = new Set<() => void>()

  allows(nodeId: NodeId): boolean {
    return this.#nodes?.has(nodeId) ?? true
  }

  /** Whether the network is private: open to listed nodes only. */
  get isPrivate(): boolean {
    return this.#nodes !== undefined
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The currently listed nodes; undefined in a network that is open to all. */
  setNodes(nodes: readonly NodeId[] | undefined): void {
    const before = this.#nodes
    this.#nodes = nodes && new Set(nodes)
    if (isEqual(before, this.#nodes)) return
    for (const listener of [...this.#listeners]) listener()
  }
}

function isEqual(a: ReadonlySet<NodeId> | undefined, b: ReadonlySet<NodeId> | undefined): boolean {
  return (
    a?.size === b?.size && (a === undefined || b === undefined || [...a].every((nodeId) => b.has(nodeId)))
  )
}
