import type { Contact, NodeId } from '@runnel/protocol'

/** A node of a replica, with its neighbours or some of them. */
export interface ReplicaNode {
  readonly nodeId: NodeId
  readonly contact: Contact
  readonly neighbours: readonly NodeId[]
}

/** An overlay as its previous leader stored it. What nodes deny is not used. */
export class Replica {
  readonly #contacts = new Map<NodeId, Contact>()
  readonly #neighbours = new Map<NodeId, Set<NodeId>>()

  constructor(nodes: Iterable<ReplicaNode>) {
    for (const { nodeId, contact, neighbours } of nodes) {
      this.#contacts.set(nodeId, contact)
      for (const neighbour of neighbours) if (neighbour !== nodeId) this.#connect(nodeId, neighbour)
    }
  }

  get size(): number {
    return this.#contacts.size
  }

  contactOf(id: NodeId): Contact | undefined {
    return this.#contacts.get(id)
  }

  hasEdge(a: NodeId, b: NodeId): boolean {
    return this.#neighbours.get(a)?.has(b) ?? false
  }

  /** Every edge once. */
  *edges(): IterableIterator<readonly [NodeId, NodeId]> {
    for (const [a, neighbours] of this.#neighbours) for (const b of neighbours) if (a < b) yield [a, b]
  }

  #connect(a: NodeId, b: NodeId): void {
    for (const [id, other] of [
      [a, b],
      [b, a],
    ] as const) {
      const neighbours = this.#neighbours.get(id) ?? new Set<NodeId>()
      neighbours.add(other)
      this.#neighbours.set(id, neighbours)
    }
  }
}
