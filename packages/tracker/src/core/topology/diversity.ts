import type { BoundedGraph } from './bounded-graph.ts'
import { randomPosition, type RandomSource } from './cheapest.ts'
import { IndexedSet } from './indexed-set.ts'

/** Cost of one neighbour too many of one network: far less than that of an impossible edge. */
const crowding = 1 / 64

/**
 * Which networks nodes come from. At most half of a node's neighbours, rounded down, should be of any one network other than
 * its own. Ids cost nothing, and addresses do: an attacker with thousands of ids in one network should not surround a node.
 * Every operation takes O(degree).
 */
export class Diversity<Id extends string> {
  readonly #graph: BoundedGraph<Id>
  readonly #networks = new Map<Id, string>()
  readonly #members = new Map<string, IndexedSet<Id>>()
  /** All networks, by position. */
  readonly #present = new IndexedSet<string>()

  constructor(graph: BoundedGraph<Id>) {
    this.#graph = graph
  }

  /** Whether there are nodes of more than one network. */
  get matters(): boolean {
    return this.#present.size > 1
  }

  /** Adds a node of this network; one of no known network is ignored. */
  add(id: Id, network: string | undefined): void {
    if (network === undefined) return
    const members = this.#members.get(network) ?? new IndexedSet<Id>()
    this.#networks.set(id, network)
    this.#members.set(network, members)
    this.#present.add(network)
    members.add(id)
  }

  delete(id: Id): void {
    const network = this.#networks.get(id)
    if (network === undefined) return
    const members = this.#members.get(network)
    this.#networks.delete(id)
    members?.delete(id)
    if (members?.size !== 0) return
    this.#members.delete(network)
    this.#present.delete(network)
  }

  /** The cost of an edge between the two. Symmetric. */
  reluctance(a: Id, b: Id): number {
    if (!this.matters) return 0
    return (this.#excess(a, [b]) + this.#excess(b, [a])) * crowding
  }

  /** The extra cost of a node getting both of these, beyond the cost of each. */
  reluctanceToBoth(id: Id, a: Id, b: Id): number {
    if (!this.matters || this.#networks.get(a) !== this.#networks.get(b)) return 0
    const each = this.#excess(id, [a])
    return Math.max(0, this.#excess(id, [a, b]) - 2 * each) * crowding
  }

  /** A neighbour that exceeds its network's share of a node's neighbours; undefined when there is none. */
  oneTooMany(id: Id): Id | undefined {
    if (!this.matters) return undefined
    for (const neighbour of this.#graph.linksOf(id).keys())
      if (this.#excess(id, [neighbour], 0) > 0) return neighbour
    return undefined
  }

  /** A random node, with every network equally likely. Only where `matters`. */
  draw(random: RandomSource): Id {
    const network = this.#present.at(randomPosition(this.#present.size, random))
    const members = this.#members.get(network) as IndexedSet<Id>
    return members.at(randomPosition(members.size, random))
  }

  /** How many of the nodes added to a node's neighbours, all of one network, would exceed its share. */
  #excess(id: Id, added: readonly [Id, ...Id[]], more = added.length): number {
    const network = this.#networks.get(added[0])
    if (network === undefined || network === this.#networks.get(id) || !this.#networks.has(id)) return 0
    let count = 0
    for (const neighbour of this.#graph.linksOf(id).keys())
      if (this.#networks.get(neighbour) === network) count++
    const room = Math.floor(this.#graph.degree / 2) - count
    return more === 0 ? Math.max(0, -room) : Math.min(more, Math.max(0, more - room))
  }
}
