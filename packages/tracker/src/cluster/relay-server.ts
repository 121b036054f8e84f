import { readPackets, type NodeId } from '@runnel/protocol'
import type { CloseReason, Connection, ConnectionEvents, ConnectionStats } from '@runnel/transport'
import type { ClusterCounterName } from './core/cluster-counters.ts'
import type { RelayFrame } from './core/relay-frame.ts'
import type { ClusterLimits } from './limits.ts'

export interface RelayServerModules {
  relay(tracker: NodeId, frame: RelayFrame): boolean
  /** A node that another tracker relays; its `events` have to be set at once. */
  accept(connection: RelayedConnection): void
  count(name: ClusterCounterName): void
}

/** Frames that come from a tracker which relays nodes. */
export type FrameOfRelay = Extract<RelayFrame, { readonly type: 'open' | 'up' | 'gone' }>

/** The nodes that others relay to this tracker, each as a connection like any other. */
export class RelayServer {
  readonly #limits: Pick<ClusterLimits, 'maxRelayedNodes' | 'maxHops'>
  readonly #modules: RelayServerModules
  readonly #connections = new Map<NodeId, Map<NodeId, RelayedConnection>>()

  constructor(limits: Pick<ClusterLimits, 'maxRelayedNodes' | 'maxHops'>, modules: RelayServerModules) {
    this.#limits = limits
    this.#modules = modules
  }

  /** Nodes that come over other trackers. */
  get size(): number {
    let size = 0
    for (const connections of this.#connections.values()) size += connections.size
    return size
  }

  /** Throws what `readPackets` throws. */
  receive(tracker: NodeId, frame: FrameOfRelay): void {
    const connection = this.#connections.get(tracker)?.get(frame.nodeId)
    if (frame.type === 'open') this.#open(tracker, frame.nodeId, frame.hops)
    else if (frame.type === 'up') connection?.receive(frame.packet)
    else connection?.end({ code: 'RELAY_ENDED', text: 'no longer relayed', remote: true })
  }

  /** The tracker is not linked any more, and with it its nodes. */
  unlinked(tracker: NodeId): void {
    for (const connection of [...(this.#connections.get(tracker)?.values() ?? [])])
      connection.end({ code: 'LINK_LOST', text: 'the tracker that relays it is gone', remote: true })
  }

  #open(tracker: NodeId, nodeId: NodeId, hops: number): void {
    const connections = this.#connections.get(tracker) ?? new Map<NodeId, RelayedConnection>()
    this.#connections.set(tracker, connections)
    connections.get(nodeId)?.end({ code: 'REPLACED', text: 'relayed anew', remote: true })
    if (connections.size >= this.#limits.maxRelayedNodes || hops > this.#limits.maxHops) {
      this.#modules.count('relaysRefused')
      const [code, text] = ['TOO_MANY_RELAYED', `${hops} trackers, ${connections.size} nodes`]
      this.#modules.relay(tracker, { type: 'closed', nodeId, code, text })
      return
    }
    const connection = new RelayedConnection(
      nodeId,
      { relay: tracker, hops },
      {
        send: (packet) => this.#modules.relay(tracker, { type: 'down', nodeId, packet }),
        closed: (code, text) => this.#modules.relay(tracker, { type: 'closed', nodeId, code, text }),
        ended: () => {
          if (connections.get(nodeId) === connection) connections.delete(nodeId)
        },
      },
    )
    connections.set(nodeId, connection)
    this.#modules.accept(connection)
  }
}

interface Ends {
  send(packet: Uint8Array): boolean
  closed(code: string, text: string): void
  ended(): void
}

const noEvents: ConnectionEvents = { onPacket: () => {}, onDrain: () => {}, onClose: () => {} }

/** A node at the other end of another tracker. That tracker has checked its id. */
export class RelayedConnection implements Connection {
  readonly peerId: NodeId
  readonly peerRole = 'node'
  readonly transport = 'websocket'
  readonly direction = 'inbound'
  readonly capabilities = new Set<string>()
  readonly rttMs = undefined
  readonly queuedBytes = 0
  readonly writable = true
  /** The tracker that it comes over. */
  readonly relay: NodeId
  /** Trackers between this one and the node. */
  readonly hops: number
  events: ConnectionEvents = noEvents
  readonly #ends: Ends
  #isOpen = true
  readonly #stats = { packetsIn: 0, packetsOut: 0, bytesIn: 0, bytesOut: 0, packetsDropped: 0 }

  constructor(peerId: NodeId, { relay, hops }: Pick<RelayedConnection, 'relay' | 'hops'>, ends: Ends) {
    this.peerId = peerId
    this.relay = relay
    this.hops = hops
    this.#ends = ends
  }

  get stats(): ConnectionStats {
    const { packetsIn: framesIn, packetsOut: framesOut } = this.#stats
    return { ...this.#stats, framesIn, framesOut }
  }

  send(packet: Uint8Array): boolean {
    const isSent = this.#isOpen && this.#ends.send(packet)
    this.#stats[isSent ? 'packetsOut' : 'packetsDropped']++
    if (isSent) this.#stats.bytesOut += packet.length
    return isSent
  }

  close(code: string, text: string): void {
    if (!this.#isOpen) return
    this.#ends.closed(code, text)
    this.end({ code, text, remote: false })
  }

  /** What the other tracker relays of the node. */
  receive(packets: Uint8Array): void {
    for (const { type, body, whole } of readPackets(packets)) {
      this.#stats.packetsIn++
      this.#stats.bytesIn += whole.length
      if (this.#isOpen) this.events.onPacket(type, body, whole)
    }
  }

  /** It is over, and the other side knows. */
  end(reason: CloseReason): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#ends.ended()
    this.events.onClose(reason)
  }
}
