import type { NodeId, StreamPartId } from '@runnel/protocol'
import type { Connection } from '@runnel/transport'
import type { NodeToTracker } from '../core/tracker-core.ts'

/** How a node is connected. */
interface Ways {
  /** The direct connection if there is one, else the first by which another tracker relays it. */
  main: Connection
  readonly others: Set<Connection>
  /** Stream parts that it reported by one of the others. */
  readonly byOthers: Map<StreamPartId, Connection>
}

/** What a connection that is closed leaves behind. */
export interface Closed {
  /** The node has no other. */
  readonly isLast: boolean
  /** The stream parts that it was the way for, of those given. */
  readonly lost: readonly StreamPartId[]
}

/**
 * The connections of nodes. Mostly a node has one; one that is on its way home is connected directly, and other trackers
 * still relay what it has not brought with it yet. What concerns a stream part goes the way it was reported last.
 */
export class NodeConnections {
  readonly #nodes = new Map<NodeId, Ways>()

  /** The node's direct connection, or another one. */
  get(nodeId: NodeId): Connection | undefined {
    return this.#nodes.get(nodeId)?.main
  }

  has(connection: Connection): boolean {
    const ways = this.#nodes.get(connection.peerId)
    return ways?.main === connection || (ways?.others.has(connection) ?? false)
  }

  /** The way to a node for what concerns a stream part. */
  towards(nodeId: NodeId, id: StreamPartId): Connection | undefined {
    const ways = this.#nodes.get(nodeId)
    return ways?.byOthers.get(id) ?? ways?.main
  }

  /** The main connection of a node, and the one by which it reported a stream part last. */
  ways(nodeId: NodeId, id: StreamPartId) {
    return { main: this.get(nodeId), way: this.towards(nodeId, id) }
  }

  all(nodeId: NodeId): Connection[] {
    const ways = this.#nodes.get(nodeId)
    return ways === undefined ? [] : [ways.main, ...ways.others]
  }

  *[Symbol.iterator](): Iterator<Connection> {
    for (const nodeId of [...this.#nodes.keys()]) yield* this.all(nodeId)
  }

  /** Adds a connection, the main one if `isDirect`; `reported` is what the node reported so far. */
  add(connection: Connection, isDirect: boolean, reported: Iterable<StreamPartId>): void {
    const ways = this.#nodes.get(connection.peerId)
    if (ways === undefined) {
      this.#nodes.set(connection.peerId, { main: connection, others: new Set(), byOthers: new Map() })
    } else if (isDirect) {
      for (const id of reported) if (!ways.byOthers.has(id)) ways.byOthers.set(id, ways.main)
      ways.others.add(ways.main)
      ways.main = connection
    } else {
      ways.others.add(connection)
    }
  }

  /** A connection is closed; `reported` is what its node reported so far. */
  delete(connection: Connection, reported: Iterable<StreamPartId>): Closed {
    const ways = this.#nodes.get(connection.peerId)
    const wasMain = ways?.main === connection
    const [next] = ways?.others ?? []
    if (ways === undefined || (wasMain && next === undefined)) {
      this.#nodes.delete(connection.peerId)
      return { isLast: true, lost: [] }
    }
    const isLost = (id: StreamPartId) => (ways.byOthers.get(id) ?? ways.main) === connection
    const lost = [...reported].filter(isLost)
    if (wasMain && next !== undefined) ways.main = next
    ways.others.delete(ways.main)
    ways.others.delete(connection)
    for (const [id, way] of ways.byOthers)
      if (way === ways.main || way === connection) ways.byOthers.delete(id)
    return { isLast: false, lost }
  }

  /**
   * Whether a packet counts that came by a connection: nobody is taken out of a stream part by what was said before it went
   * another way. `isMember` says whether the node has reported a stream part.
   */
  counts(connection: Connection, packet: NodeToTracker, isMember: boolean): boolean {
    const ways = this.#nodes.get(connection.peerId)
    if (ways === undefined || ways.others.size === 0 || !isMember) return true
    if (packet.type !== 'leave' && packet.type !== 'storing') return true
    return this.towards(connection.peerId, packet.streamPartId) === connection
  }

  /** A node has reported a stream part that this tracker leads. Another connection that is of no use any more, if there is one. */
  reported(connection: Connection, id: StreamPartId): Connection | undefined {
    const ways = this.#nodes.get(connection.peerId)
    if (ways === undefined || ways.others.size === 0) return undefined
    const before = ways.byOthers.get(id)
    if (connection === ways.main) ways.byOthers.delete(id)
    else ways.byOthers.set(id, connection)
    const isIdle =
      before !== undefined && before !== connection && ![...ways.byOthers.values()].includes(before)
    return isIdle ? before : undefined
  }
}
