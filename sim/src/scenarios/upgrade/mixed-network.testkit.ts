import { createNetworkNode, type NetworkNode } from '@runnel/network'
import {
  buildBatch,
  keyPartition,
  parseStreamPartId,
  responsibleTrackers,
  toStreamPartId,
  type BuiltBatch,
  type LinkRole,
  type MessageRef,
  type NodeId,
  type RunnelError,
  type StreamMessage,
  type StreamPartId,
} from '@runnel/protocol'
import { createIceServerSource, defaultTrackerLimits, TrackerCore, TrackerRuntime } from '@runnel/tracker'
import type { ConnectionModules, Transport } from '@runnel/transport'
import { tapped } from '../../world/tapped-transport.ts'
import { World } from '../../world/world.ts'
import { hellos, laterCapability, laterFields, sendLater, type Version } from './later-version.testkit.ts'

export const trackerNames = ['tracker a', 'tracker b'] as const

/** A link as one of its ends sees it. */
export interface SeenLink {
  /** Role and version, its own first. */
  readonly ends: readonly [string, string]
  /** Whether both know what 1.1 can do besides. */
  readonly knowsLater: boolean
}

export interface MixedTracker {
  readonly name: string
  readonly core: TrackerCore
  readonly runtime: TrackerRuntime
}

export interface MixedNode {
  readonly name: string
  readonly node: NetworkNode
  /** In the order in which they came. */
  readonly messages: ReadonlyMap<StreamPartId, StreamMessage[]>
}

/**
 * Nodes and trackers of 1.0 and 1.1. There are two stream parts, one of them for keys; each tracker is the first for one of
 * them, and serves both while the other one is away.
 */
export class MixedNetwork {
  readonly streamParts: readonly [StreamPartId, StreamPartId]
  readonly sent: ReadonlyMap<StreamPartId, string[]>
  readonly links: SeenLink[] = []
  /** What trackers let nodes go for. */
  readonly refusals: string[] = []
  readonly #world: World
  readonly #trackers: readonly NodeId[]
  readonly #versions = new Map<NodeId, Version>()
  readonly #previous = new Map<StreamPartId, MessageRef>()
  #processes = 0

  private constructor(world: World) {
    this.#world = world
    this.#trackers = trackerNames.map((name) => world.identity(name).nodeId)
    const { streamId } = parseStreamPartId(world.streamPartId)
    const keys = toStreamPartId(streamId, keyPartition)
    const firstOf = (part: StreamPartId) => responsibleTrackers(part, this.#trackers)[0]
    const parts = Array.from({ length: keyPartition }, (_, partition) => toStreamPartId(streamId, partition))
    const other = parts.find((part) => firstOf(part) !== firstOf(keys))
    if (other === undefined) throw new Error('one tracker is the first for all stream parts')
    this.streamParts = [other, keys]
    this.sent = new Map(this.streamParts.map((part) => [part, []]))
  }

  static async create(): Promise<MixedNetwork> {
    const conditions = { latencyMs: () => 5, jitterMs: 0, lossRate: () => 0 }
    return new MixedNetwork(await World.create({ seed: 'upgrade', degree: 3, ...conditions }))
  }

  async startTracker(name: string, version: Version): Promise<MixedTracker> {
    const { clock, crypto } = this.#world
    const modules = this.#modules(name, version)
    const core = new TrackerCore(
      { degree: 3, limits: defaultTrackerLimits },
      { random: modules.random.fork('core') },
    )
    const nothing = () => {}
    const runtime = new TrackerRuntime({
      ...{ core, clock, crypto, onError: modules.onError, ice: createIceServerSource({}) },
      transport: this.#transport('tracker', version, modules),
      logger: {
        ...{ debug: nothing, warn: nothing, error: nothing },
        info: (_detail, text) => this.refusals.push(text),
      },
    })
    await runtime.start()
    return { name, core, runtime }
  }

  /** A node in both stream parts. */
  async startNode(name: string, version: Version): Promise<MixedNode> {
    const modules = this.#modules(name, version)
    const trackersFor = (part: StreamPartId) =>
      responsibleTrackers(part, this.#trackers, 2).map((nodeId) => ({ nodeId, url: `memory://${nodeId}` }))
    const node = createNetworkNode(
      {},
      {
        ...modules,
        publisherPolicy: { check: () => 'allowed', resolve: () => Promise.resolve() },
        trackers: { trackersFor, onChange: () => () => {} },
        transports: (wire) => [this.#transport('node', version, wire)],
      },
    )
    const messages = new Map(this.streamParts.map((part) => [part, [] as StreamMessage[]]))
    node.on('message', ({ message }) =>
      messages.get(toStreamPartId(message.streamId, message.partition))?.push(message),
    )
    await node.start()
    for (const part of this.streamParts) node.join(part)
    return { name, node, messages }
  }

  /** Why somebody cannot connect to a tracker, by its own words or those of the other end; `none` when it can. */
  async dial(role: LinkRole, version: Version, { name }: MixedTracker): Promise<string> {
    const transport = this.#transport(role, version, this.#modules(`${version} ${role}`, version))
    await transport.start()
    let failure = 'none'
    const { nodeId: peerId } = this.#world.identity(name)
    const onFail = ({ code, message }: RunnelError) => (failure = `${code} ${message}`)
    transport.dial({ peerId, onOpen: () => {}, onFail })
    await this.#pass(1_000)
    const stopped = transport.stop()
    await this.#pass(1_000)
    await stopped
    return failure
  }

  /** Messages published in each stream part. */
  get sentCount(): number {
    return this.sent.get(this.streamParts[0])?.length ?? 0
  }

  /** Lets time pass, in which a node publishes a message in each stream part every 100 ms. */
  async publishFor(durationMs: number, { node }: MixedNode): Promise<void> {
    for (let passedMs = 0; passedMs < durationMs; passedMs += 100) {
      for (const part of this.streamParts) node.publish(this.#nextOf(part))
      await this.#pass(100)
    }
  }

  async #pass(durationMs: number): Promise<void> {
    await this.#world.advanceTo(this.#world.clock.monotonicMs() + durationMs)
  }

  #nextOf(part: StreamPartId): BuiltBatch {
    const { clock, crypto } = this.#world
    const publisher = this.#world.identity('publisher')
    const sent = this.sent.get(part) ?? []
    const text = `message ${sent.length}`
    const place = { timestamp: clock.now(), sequenceNumber: 0 }
    const previous = this.#previous.get(part)
    const content = new TextEncoder().encode(text)
    const { streamId, partition } = parseStreamPartId(part)
    const chain = { streamId, partition, publisherId: publisher.nodeId, messageChainId: 'test' }
    const messages = [{ ...place, previous, ...laterFields, contentType: 2, content }]
    this.#previous.set(part, place)
    sent.push(text)
    return buildBatch({ chain, messages }, crypto, publisher)
  }

  #modules(name: string, version: Version): ConnectionModules {
    const { clock, crypto } = this.#world
    const identity = this.#world.identity(name)
    this.#versions.set(identity.nodeId, version)
    const random = this.#world.random(`chance of process ${this.#processes++}`)
    const onError = (error: unknown) => {
      throw error
    }
    return { clock, crypto, identity, random, onError }
  }

  #transport(role: LinkRole, version: Version, modules: ConnectionModules): Transport {
    return tapped(this.#world.network.transport({ role }, { ...modules, ...hellos[version] }), {
      opened: (connection) => {
        const { peerId, peerRole, capabilities } = connection
        const ends = [`${role} ${version}`, `${peerRole} ${this.#versions.get(peerId)}`] as const
        this.links.push({ ends, knowsLater: capabilities.has(laterCapability) })
        if (version !== '1.0') sendLater(connection, role, modules, this.streamParts[0])
      },
    })
  }
}
