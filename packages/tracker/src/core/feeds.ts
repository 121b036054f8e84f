import type { NodeId, Status, StreamPartId, WantedNeighbour } from '@runnel/protocol'
import type { Overlay } from './overlay.ts'
import type { StreamPartHost } from './stream-part-host.ts'
import { IndexedSet } from './topology/indexed-set.ts'
import type { RandomSource } from './topology/cheapest.ts'

interface Feeder {
  /** Members it was told to send to. */
  hosts: Set<NodeId>
  /** The highest counter it can know. */
  counter: number
  toldCounter: number
  /** Its newest. */
  status: Status
}

export interface FeedsModules {
  readonly random: RandomSource
  readonly overlay: Overlay
  readonly host: StreamPartHost
}

/** Feeders told at once: the others have their turn after the quiet window. Of few members each that comes or goes is news for all of them. */
const maxToldAtOnce = 256
/** Random draws of an unusable member before the feeder gets fewer. */
const maxDraws = 8

/**
 * Nodes that publish to a stream part and may not read it. Each is told to send what it publishes to as many members of the
 * overlay as a node has neighbours, chosen where messages enter the overlay best and else at random. The members are told
 * nothing, and accept it from anybody who may publish.
 */
export class Feeds {
  readonly #streamPartId: StreamPartId
  readonly #modules: FeedsModules
  readonly #members = new IndexedSet<NodeId>()
  readonly #feeders = new Map<NodeId, Feeder>()
  readonly #feedersOf = new Map<NodeId, Set<NodeId>>()
  /** Feeders with fewer hosts than there could be. */
  readonly #short = new Set<NodeId>()
  /** Feeders that have to be told. */
  readonly #changed = new Set<NodeId>()

  constructor(streamPartId: StreamPartId, modules: FeedsModules) {
    this.#streamPartId = streamPartId
    this.#modules = modules
  }

  get size(): number {
    return this.#feeders.size
  }

  get arePending(): boolean {
    return this.#changed.size > 0
  }

  get nodeIds(): Iterable<NodeId> {
    return this.#feeders.keys()
  }

  has(nodeId: NodeId): boolean {
    return this.#feeders.has(nodeId)
  }

  memberAdded(nodeId: NodeId): void {
    this.#members.add(nodeId)
    for (const feeder of this.#short) this.#changed.add(feeder)
  }

  memberGone(nodeId: NodeId): void {
    this.#members.delete(nodeId)
    for (const feeder of this.#feedersOf.get(nodeId) ?? []) this.#lose(feeder, nodeId)
    this.#feedersOf.delete(nodeId)
  }

  /** A feeder reports; its first status joins. */
  status(nodeId: NodeId, status: Status): void {
    const known = this.#feeders.get(nodeId)
    const feeder = known ?? { hosts: new Set<NodeId>(), counter: 0, toldCounter: 0, status }
    // Nothing is lost on a connection: what it has not answered yet is in flight.
    const isNews = status.counter > feeder.toldCounter
    feeder.status = status
    feeder.counter = Math.max(feeder.counter, status.counter)
    this.#feeders.set(nodeId, feeder)
    for (const { nodeId: hostId } of status.failed) {
      if (!feeder.hosts.has(hostId)) continue
      this.#modules.host.avoid(nodeId, hostId)
      this.#feedersOf.get(hostId)?.delete(nodeId)
      this.#lose(nodeId, hostId)
    }
    if (known === undefined || isNews) this.#changed.add(nodeId)
  }

  counterOf(nodeId: NodeId): number {
    return this.#feeders.get(nodeId)?.counter ?? 0
  }

  /** Whether one of the two is a feeder and the other its host. */
  isToldEdge(a: NodeId, b: NodeId): boolean {
    return Boolean(this.#feeders.get(a)?.hosts.has(b) || this.#feeders.get(b)?.hosts.has(a))
  }

  /** Tells a feeder its hosts again; ignores other nodes. */
  tellAgain(nodeId: NodeId): void {
    if (this.#feeders.has(nodeId)) this.#changed.add(nodeId)
  }

  /** False when it is no feeder. */
  remove(nodeId: NodeId): boolean {
    const feeder = this.#feeders.get(nodeId)
    if (feeder === undefined) return false
    for (const hostId of feeder.hosts) this.#feedersOf.get(hostId)?.delete(nodeId)
    for (const set of [this.#short, this.#changed]) set.delete(nodeId)
    return this.#feeders.delete(nodeId)
  }

  /** What a feeder would report now. */
  statusOf(nodeId: NodeId): Status | undefined {
    const feeder = this.#feeders.get(nodeId)
    return feeder && { ...feeder.status, counter: feeder.counter, failed: [] }
  }

  /** Tells feeders whose hosts have changed, those first that have waited for longest. True when there were any. */
  flush(): boolean {
    let told = 0
    for (const nodeId of this.#changed) {
      if (told++ === maxToldAtOnce) break
      this.#changed.delete(nodeId)
      this.#tell(nodeId)
    }
    return told > 0
  }

  #lose(nodeId: NodeId, hostId: NodeId): void {
    this.#feeders.get(nodeId)?.hosts.delete(hostId)
    this.#changed.add(nodeId)
  }

  #tell(nodeId: NodeId): void {
    const feeder = this.#feeders.get(nodeId)
    const { host } = this.#modules
    if (feeder === undefined || !host.isConnected(nodeId)) return
    this.#choose(nodeId, feeder)
    feeder.toldCounter = ++feeder.counter
    const neighbours: WantedNeighbour[] = []
    for (const id of feeder.hosts) {
      const contact = host.contactOf(id)
      if (contact !== undefined) neighbours.push({ nodeId: id, contact })
      host.permitSignals(nodeId, id)
    }
    const streamPartId = this.#streamPartId
    host.send(nodeId, { type: 'instruction', streamPartId, counter: feeder.toldCounter, neighbours })
  }

  #choose(nodeId: NodeId, { hosts }: Feeder): void {
    const { random, overlay, host } = this.#modules
    const { degree } = overlay.kind
    const { entry } = overlay.topology
    if (entry !== undefined && hosts.size < degree && !host.avoids(nodeId, entry))
      this.#take(nodeId, hosts, entry)
    for (let draws = maxDraws + degree; draws > 0 && hosts.size < degree && this.#members.size > 0; draws--) {
      const id = this.#members.at(Math.floor(random.next() * this.#members.size))
      // Where there is no other, one that failed is better than none; the node does not dial it at once.
      if (hosts.has(id) || (draws > degree && host.avoids(nodeId, id))) continue
      this.#take(nodeId, hosts, id)
    }
    if (hosts.size < degree) this.#short.add(nodeId)
    else this.#short.delete(nodeId)
  }

  #take(nodeId: NodeId, hosts: Set<NodeId>, id: NodeId): void {
    hosts.add(id)
    const feeders = this.#feedersOf.get(id)
    if (feeders === undefined) this.#feedersOf.set(id, new Set([nodeId]))
    else feeders.add(nodeId)
  }
}
