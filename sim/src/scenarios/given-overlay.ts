import { decodePacket, encodePacket, type Contact, type NodeId } from '@runnel/protocol'
import type { Connection, Transport } from '@runnel/transport'
import { simError } from '../errors.ts'
import { ChainPublisher } from '../world/chain-publisher.ts'
import { noArchive } from '../world/no-archive.ts'
import { World } from '../world/world.ts'
import { processingMs } from './formation.ts'

export interface GivenOverlayOptions {
  readonly nodes: number
  /** Each edge once, by the numbers of its ends. */
  readonly edges: readonly (readonly [number, number])[]
  /** One way, of the underlay between two nodes. */
  oneWayMs(from: number, to: number): number
  /** Who publishes, one message each. */
  readonly publishers: readonly number[]
}

/** Of every message at every node but its publisher. */
export interface GivenOverlayDelays {
  readonly delaysMs: readonly number[]
  readonly meanMs: number
}

/** Virtual time for all links to open, and for all messages to arrive. */
const openingMs = 30_000
const arrivingMs = 60_000

/**
 * How long messages take in an overlay that was made elsewhere: production nodes in virtual time, with a tracker that
 * orders just these edges. Throws INVALID_ARGUMENT when a message does not come to every node.
 */
export async function floodGivenOverlay(options: GivenOverlayOptions): Promise<GivenOverlayDelays> {
  const { nodes: count, edges, publishers } = options
  const places = new Map<NodeId, number>()
  const world = await World.create({
    seed: 'given overlay',
    degree: 4,
    jitterMs: 0,
    lossRate: () => 0,
    latencyMs: (from, to) => {
      const [a, b] = [places.get(from), places.get(to)]
      return a === undefined || b === undefined ? 1 : options.oneWayMs(a, b) + processingMs
    },
  })
  // Its place is taken by one that does not make overlays of its own.
  world.stopTracker()
  await world.advanceTo(world.clock.monotonicMs() + 1)
  const tracker = new GivenTracker({ nodes: count, edges }, world.transport('tracker', 'tracker'))
  await tracker.start()
  const nodes = []
  for (let index = 0; index < count; index++) {
    const { nodeId } = world.identity(`node ${index}`)
    places.set(nodeId, index)
    tracker.numbers.set(nodeId, index)
    nodes.push(await world.addNode(`node ${index}`, noArchive))
  }
  const { clock, crypto, streamPartId } = world
  await world.advanceTo(clock.monotonicMs() + openingMs)
  const delaysMs: number[] = []
  let publishedMs = 0
  for (const { node } of nodes)
    node.on('message', ({ from }) => from !== undefined && delaysMs.push(clock.monotonicMs() - publishedMs))
  for (const [number, publisher] of publishers.entries()) {
    const identity = world.identity(`publisher ${number}`)
    publishedMs = clock.monotonicMs()
    nodes[publisher]?.node.publish(new ChainPublisher({ streamPartId }, { clock, crypto, identity }).next())
    await world.advanceTo(publishedMs + arrivingMs)
  }
  for (const { node } of nodes) void node.stop()
  if (delaysMs.length !== publishers.length * (count - 1))
    throw simError('INVALID_ARGUMENT', 'the overlay is not connected: some nodes would not get every message')
  return { delaysMs, meanMs: delaysMs.reduce((sum, delayMs) => sum + delayMs, 0) / delaysMs.length }
}

/** A tracker that waits until all nodes are there, and then orders the edges it was given. */
class GivenTracker {
  /** Who has which number. */
  readonly numbers = new Map<NodeId, number>()
  readonly #overlay: Pick<GivenOverlayOptions, 'nodes' | 'edges'>
  readonly #transport: Transport
  readonly #contacts = new Map<NodeId, Contact>()
  readonly #joined = new Map<NodeId, Connection>()

  constructor(overlay: Pick<GivenOverlayOptions, 'nodes' | 'edges'>, transport: Transport) {
    this.#overlay = overlay
    this.#transport = transport
  }

  start(): Promise<void> {
    this.#transport.onInbound = (connection) => {
      connection.events = {
        onPacket: (type, body) => this.#onPacket(connection, type, body),
        onDrain: () => {},
        onClose: () => {},
      }
    }
    return this.#transport.start()
  }

  #onPacket(connection: Connection, type: number, body: Uint8Array): void {
    const packet = decodePacket(type, body)
    if (packet.type === 'nodeInfo') this.#contacts.set(connection.peerId, packet.contact)
    if (packet.type !== 'status' || this.#joined.has(connection.peerId)) return
    this.#joined.set(connection.peerId, connection)
    if (this.#joined.size < this.#overlay.nodes) return
    const { streamPartId } = packet
    for (const [nodeId, to] of this.#joined) {
      const neighbours = this.#neighboursOf(this.numbers.get(nodeId) ?? -1)
      to.send(encodePacket({ type: 'instruction', streamPartId, counter: 1, neighbours }))
    }
  }

  #neighboursOf(number: number) {
    const ids = new Map(Array.from(this.numbers, ([nodeId, place]) => [place, nodeId]))
    return this.#overlay.edges.flatMap(([a, b]) => {
      const nodeId = ids.get(a === number ? b : b === number ? a : -1)
      const contact = nodeId === undefined ? undefined : this.#contacts.get(nodeId)
      return nodeId === undefined || contact === undefined ? [] : [{ nodeId, contact }]
    })
  }
}
