import { lightParts, type LightOptions } from '@runnel/network/light'
import {
  decodeBatch,
  PacketType,
  readPackets,
  toStreamPartId,
  type NodeId,
  type StreamMessage,
  type StreamPartId,
} from '@runnel/protocol'
import { BlameChecker } from '../../../measures/invariants/blame.ts'
import type { Breaches } from '../../../measures/invariants/breaches.ts'
import { messageKey } from '../../../measures/invariants/published.ts'
import { ServedChecker } from '../../../measures/invariants/served.ts'
import type { World } from '../../../world/world.ts'
import type { Tap } from '../../../world/tapped-transport.ts'
import type { FuzzNode } from '../fuzz-node.ts'
import type { GuestsPlan } from '../fuzz-plan.ts'
import { isUnanswered, isWithheld, type Withholding } from './withholding.ts'

/** Through all that may delay it while the two are attached. */
const servedWithinMs = 20_000
/** A process that ended is gone by then, and another may have its key. */
const restartAfterMs = 5_000

export interface GuestWorldModules {
  readonly world: World
  readonly breaches: Breaches
  readonly nodes: ReadonlyMap<NodeId, FuzzNode>
  troubledMs(): number
  /** Whether the node has the message, or is no longer there to have it. */
  has(nodeId: NodeId, key: string): boolean
  /** A host took what a guest published, as the first that did. */
  entered(hostId: NodeId, id: StreamPartId, key: string): void
  /** A host joins or leaves a stream part for its guests. */
  onDisturbed(): void
  addNode(of: NewNode): Promise<FuzzNode>
}

/** A node with a part in it. */
export interface NewNode {
  readonly name?: string
  readonly light?: LightOptions
  readonly tap?: Pick<Tap, 'sending' | 'received'>
}

interface Host {
  readonly name: string
  readonly nodeId: NodeId
  readonly withholds: Withholding | undefined
  endedMs: number
}

/** The hosts of a world and their guests: what they owe each other, and who is blamed for what. */
export class GuestWorld {
  readonly #plan: GuestsPlan
  readonly #modules: GuestWorldModules
  readonly #hosts: readonly Host[]
  readonly #guests = new Set<NodeId>()
  /** Which hosts a guest has in a stream part, as it knows. */
  readonly #attached = new Map<string, ReadonlySet<NodeId>>()
  /** Since when it has any, by the wall clock. */
  readonly #sinceMs = new Map<string, number>()
  readonly #served: ServedChecker
  readonly #blame: BlameChecker
  /** The guests that publish, by their publishers. */
  readonly #own = new Map<NodeId, NodeId>()
  /** What guests published and no host has taken yet. */
  readonly #waiting = new Set<string>()
  #named = 0

  constructor(plan: GuestsPlan, modules: GuestWorldModules) {
    const { world, breaches, troubledMs } = modules
    const nowMs = (): number => world.clock.monotonicMs()
    this.#plan = plan
    this.#modules = modules
    const honest = plan.hosts - plan.withheld.length
    this.#hosts = Array.from({ length: plan.hosts }, (_, i) => {
      const name = `host ${i}`
      const { nodeId } = world.identity(name)
      return { name, nodeId, withholds: plan.withheld[i - honest], endedMs: -Infinity }
    })
    const has = (nodeId: NodeId, key: string): boolean => modules.has(nodeId, key)
    this.#served = new ServedChecker({ withinMs: servedWithinMs }, { breaches, nowMs, troubledMs, has })
    this.#blame = new BlameChecker({ breaches, nowMs, wallMs: () => world.clock.now() })
  }

  get plan(): GuestsPlan {
    return this.#plan
  }

  /** Messages that one end had and the other got. */
  get checked(): number {
    return this.#served.checked
  }

  /** Messages of which guests said that a host withheld them. */
  get blamed(): number {
    return this.#blame.reported
  }

  isGuest(nodeId: NodeId): boolean {
    return this.#guests.has(nodeId)
  }

  /** The hosts that run. */
  get running(): readonly FuzzNode[] {
    return this.#hosts.flatMap(({ nodeId }) => this.#modules.nodes.get(nodeId) ?? [])
  }

  /** Starts a host that does not run; undefined where there is none, or its process has only just ended. */
  async startHost(): Promise<FuzzNode | undefined> {
    const { nodes, world, addNode } = this.#modules
    const nowMs = world.clock.monotonicMs()
    const host = this.#hosts.find(
      ({ nodeId, endedMs }) => !nodes.has(nodeId) && endedMs + restartAfterMs <= nowMs,
    )
    if (host === undefined) return undefined
    world.network.setOnline(host.nodeId, true)
    const node = await addNode({
      name: host.name,
      light: { parts: lightParts, servesGuests: true },
      tap: { sending: (peerId, packet) => (this.#isKept(host, peerId, packet) ? undefined : packet) },
    })
    node.sim.node.on('guestPart', (id, isWanted) => {
      this.#modules.onDisturbed()
      if (isWanted && !node.isIn(id)) node.join(id)
      else if (!isWanted && node.isIn(id) && this.#plan.joinsForGuests) node.leave(id)
    })
    return node
  }

  async addGuest(): Promise<FuzzNode> {
    const name = `guest ${this.#named++}`
    const { atOnce } = this.#plan
    const hosts = this.#hosts.map(({ nodeId }) => ({ url: `memory:${nodeId}` }))
    const { nodeId } = this.#modules.world.identity(name)
    this.#guests.add(nodeId)
    const node = await this.#modules.addNode({
      name,
      light: { parts: lightParts, hosts: { hosts, atOnce } },
      tap: { received: (peerId, type, body) => this.#comes(nodeId, peerId, type, body) },
    })
    node.sim.node.on('neighbours', (id, neighbours) => this.#changed(nodeId, id, new Set(neighbours)))
    node.sim.node.on('withheld', (told) => this.#blame.told(nodeId, told))
    return node
  }

  /** The hosts that a guest is attached to. */
  hostsOf(guestId: NodeId, id: StreamPartId): readonly NodeId[] {
    return [...(this.#attached.get(`${guestId} ${id}`) ?? [])]
  }

  /** A node publishes: a guest through its hosts, and a host for its guests. */
  published(nodeId: NodeId, id: StreamPartId, batch: Uint8Array): void {
    const { chain, messages } = decodeBatch(batch)
    if (this.isGuest(nodeId)) this.#own.set(chain.publisherId, nodeId)
    for (const message of messages) {
      if (this.isGuest(nodeId)) this.#publishes(nodeId, id, messageKey(message))
      else this.took(nodeId, id, message)
    }
  }

  /** A node took a message from another: an honest host owes it to its guests. */
  took(nodeId: NodeId, id: StreamPartId, message: StreamMessage, from: NodeId = nodeId): void {
    if (this.isGuest(nodeId)) this.#blame.takes(nodeId, id, message, from)
    const host = this.#hosts.find((one) => one.nodeId === nodeId)
    if (host === undefined) return
    const key = messageKey(message)
    if (this.#waiting.delete(key)) this.#modules.entered(nodeId, id, key)
    if (host.withholds !== undefined) return
    for (const guestId of this.#guests) {
      if (!this.hostsOf(guestId, id).includes(nodeId) || this.#own.get(message.publisherId) === guestId)
        continue
      // What was published before it was there a guest does not look for, where it had no place for what came.
      if (message.timestamp >= (this.#sinceMs.get(`${guestId} ${id}`) ?? Infinity))
        this.#served.expect(nodeId, guestId, key)
    }
  }

  /** Its process ends. */
  gone(nodeId: NodeId): void {
    this.#served.gone(nodeId)
    this.#blame.gone(nodeId)
    const host = this.#hosts.find((one) => one.nodeId === nodeId)
    if (host !== undefined) host.endedMs = this.#modules.world.clock.monotonicMs()
  }

  check(): void {
    this.#served.check()
    this.#blame.check()
  }

  #publishes(guestId: NodeId, id: StreamPartId, key: string): void {
    this.#waiting.add(key)
    for (const hostId of this.hostsOf(guestId, id)) this.#served.expect(guestId, hostId, key)
  }

  #changed(guestId: NodeId, id: StreamPartId, hosts: ReadonlySet<NodeId>): void {
    const key = `${guestId} ${id}`
    const before = this.#attached.get(key)
    if (before === undefined || before.size === 0) this.#sinceMs.set(key, this.#modules.world.clock.now())
    for (const hostId of before ?? [])
      if (!hosts.has(hostId)) {
        this.#served.ended(guestId, hostId, `${id} `)
        this.#blame.ended(guestId, hostId, id)
      }
    this.#attached.set(key, hosts)
  }

  /** A guest is given a packet. */
  #comes(guestId: NodeId, hostId: NodeId, type: number, body: Uint8Array): void {
    // Others send what is no batch.
    if (type !== PacketType.data || !this.#hosts.some(({ nodeId }) => nodeId === hostId)) return
    const batch = decodeBatch(body)
    const { streamId, partition } = batch.chain
    if (this.hostsOf(guestId, toStreamPartId(streamId, partition)).includes(hostId))
      this.#blame.brings(hostId, guestId, batch)
  }

  /** Whether a host keeps this packet from a guest. */
  #isKept({ nodeId, withholds }: Host, peerId: NodeId, packet: Uint8Array): boolean {
    if (!this.isGuest(peerId)) return false
    const [raw] = readPackets(packet)
    if (raw?.type !== PacketType.data)
      return withholds !== undefined && raw !== undefined && isUnanswered(withholds, raw.type)
    const batch = decodeBatch(raw.body)
    const isKept = withholds !== undefined && isWithheld(withholds, batch)
    this.#blame.sends(nodeId, peerId, batch, isKept)
    return isKept
  }
}
