import type { BoundedGraph } from './bounded-graph.ts'
import { randomPosition, type RandomSource } from './cheapest.ts'
import { IndexedSet } from './indexed-set.ts'

/** What speaks against one neighbour too many of one network: far less than against an edge that cannot be had. */
const crowding = 1 / 64

/**
 * Where nodes come from: of the neighbours of a node at most half, rounded down, are to be of any one network but its own. Ids
 * cost nothing, and addresses do: whoever has thousands of ids in one network is not to be all that a node has around it. Every
 * operation takes O(degree).
 */
export class Diversity<Id extends string> {
  readonly #graph: BoundedGraph<Id>
  readonly #networks = new Map<Id, string>()
  readonly #members = new Map<string, IndexedSet<Id>>()
  /** The networks there are, by position. */
  readonly #present = new IndexedSet<string>()

  constructor(graph: BoundedGraph<Id>) {
    this.#graph = graph
  }

  /** Whether there are nodes of several networks. */
  get matters(): boolean {
    return this.#present.size > 1
  }

  /** A node that came, of this network; one of no known network counts for nothing. */
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

  /** What speaks against an edge between the two. Symmetric. */
  reluctance(a: Id, b: Id): number {
    if (!this.matters) return 0
    return (this.#excess(a, [b]) + this.#excess(b, [a])) * crowding
  }

  /** What speaks against a node getting both of these besides what speaks against each. */
  reluctanceToBoth(id: Id, a: Id, b: Id): number {
    if (!this.matters || this.#networks.get(a) !== this.#networks.get(b)) return 0
    const each = this.#excess(id, [a])
    return Math.max(0, this.#excess(id, [a, b]) - 2 * each) * crowding
  }

  /** A neighbour of a node that is one too many of its network; undefined when there is none. */
  oneTooMany(id: Id): Id | undefined {
    if (!this.matters) return undefined
    for (const neighbour of this.#graph.linksOf(id).keys())
      if (this.#excess(id, [neighbour], 0) > 0) return neighbour
    return undefined
  }

  /** A random node, of each network as likely as of any other. Only where `matters`. */
  draw(random: RandomSource): Id {
    const network = this.#present.at(randomPosition(this.#present.size, random))
    const members = this.#members.get(network) as IndexedSet<Id>
    return members.at(randomPosition(members.size, random))
  }

  /** How many of those added to a node's neighbours, which are all of one network, would be too many of it. */
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
