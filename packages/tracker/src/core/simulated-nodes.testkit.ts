import type { FailedNeighbour, NodeId, Random, StreamPartId } from '@runnel/protocol'
import { nodeId, statusOf, type TrackerStory } from './tracker-core.testkit.ts'

/** How an honest node waits for a neighbour before it reports that it cannot be had. */
const dialTimeoutMs = 15_000

interface Membership {
  counter: number
  wanted: Map<NodeId, { readonly sinceMs: number }>
  failed: FailedNeighbour[]
}

/** An honest node: it keeps the newest wanted set, and reports. */
class SimulatedNode {
  readonly id: NodeId
  connected = false
  reconnectAt = Infinity
  readonly parts = new Map<StreamPartId, Membership>()

  constructor(id: NodeId) {
    this.id = id
  }
}

export interface Faults {
  readonly lossRate: number
  readonly duplicationRate: number
  readonly maxDelayMs: number
}

/**
 * Honest nodes around a core. Instructions are lost, doubled and reordered; statuses arrive while the connection lasts.
 * Two nodes are attached in a stream part when both run, both want it, and the pair is not blocked.
 */
export class SimulatedNodes {
  story: TrackerStory
  /** The round-trip time two nodes measure; without, they report none. */
  rttMs: ((a: NodeId, b: NodeId) => number) | undefined
  readonly nodes = new Map<NodeId, SimulatedNode>()
  readonly blocked = new Set<string>()
  faults: Faults
  readonly #random: Random
  readonly #makeStory: () => TrackerStory
  #inFlight: { atMs: number; to: NodeId; deliver: () => void }[] = []
  #heard = 0

  constructor(faults: Faults, modules: { random: Random; makeStory: () => TrackerStory }) {
    this.faults = faults
    this.#random = modules.random
    this.#makeStory = modules.makeStory
    this.story = modules.makeStory()
  }

  get #now(): number {
    return this.story.now
  }

  start(n: number): NodeId {
    const id = nodeId(n)
    const node = this.nodes.get(id) ?? new SimulatedNode(id)
    this.nodes.set(id, node)
    if (!node.connected) this.#connect(node)
    return id
  }

  join(id: NodeId, part: StreamPartId): void {
    const node = this.nodes.get(id)
    if (node === undefined || node.parts.has(part)) return
    node.parts.set(part, { counter: 0, wanted: new Map(), failed: [] })
    this.#report(node, part)
  }

  leave(id: NodeId, part: StreamPartId): void {
    const node = this.nodes.get(id)
    if (!node?.parts.delete(part) || !node.connected) return
    this.story.packet(id, { type: 'leave', streamPartId: part })
    this.#hear()
  }

  /** The process ends without a word; its neighbours notice, sooner or later than the tracker. */
  crash(id: NodeId): void {
    const node = this.nodes.get(id)
    if (node === undefined) return
    this.nodes.delete(id)
    this.#inFlight = this.#inFlight.filter(({ to }) => to !== id)
    const parts = [...node.parts.keys()]
    if (node.connected) this.#later(() => this.nodes.has(id) || this.#disconnected(id))
    for (const part of parts) {
      for (const other of this.nodes.values()) {
        if (other.parts.get(part)?.wanted.has(id)) this.#later(() => this.#lose(other, part, id))
      }
    }
  }

  /** The process is there again at once, and knows nothing any more. */
  restart(id: NodeId): void {
    const node = this.nodes.get(id)
    if (node === undefined) return
    const parts = [...node.parts.keys()]
    node.parts.clear()
    this.#inFlight = this.#inFlight.filter(({ to }) => to !== id)
    for (const part of parts) node.parts.set(part, { counter: 0, wanted: new Map(), failed: [] })
    if (node.connected) this.#disconnected(id)
    this.#connect(node)
  }

  /** The connection to the tracker breaks; the node's links do not. */
  disconnect(id: NodeId): void {
    const node = this.nodes.get(id)
    if (!node?.connected) return
    node.connected = false
    node.reconnectAt = this.#now + this.#random.next() * 5_000
    this.#inFlight = this.#inFlight.filter(({ to }) => to !== id)
    this.#disconnected(id)
  }

  /** The tracker is there again, and knows nothing any more. */
  restartTracker(withinMs = 1_000): void {
    const { now } = this
    this.story = this.#makeStory()
    this.story.now = now
    this.#heard = 0
    this.#inFlight = []
    for (const node of this.nodes.values()) {
      node.connected = false
      node.reconnectAt = now + this.#random.next() * withinMs
    }
  }

  get now(): number {
    return this.#now
  }

  /** Lets time pass in small steps. */
  run(ms: number, stepMs = 25): void {
    const end = this.#now + ms
    while (this.#now < end) {
      this.story.advance(stepMs)
      this.#hear()
      const dueNow = this.#inFlight.filter(({ atMs }) => atMs <= this.#now)
      this.#inFlight = this.#inFlight.filter(({ atMs }) => atMs > this.#now)
      for (const { deliver } of dueNow) deliver()
      for (const node of this.nodes.values()) {
        if (!node.connected && node.reconnectAt <= this.#now) this.#connect(node)
        else if (node.connected) this.#giveUpDials(node)
      }
    }
  }

  /** Who is attached to whom in a stream part. */
  attached(id: NodeId, part: StreamPartId): Set<NodeId> {
    const wanted = this.nodes.get(id)?.parts.get(part)?.wanted.keys() ?? []
    return new Set([...wanted].filter((other) => this.#areAttached(id, other, part)))
  }

  #areAttached(a: NodeId, b: NodeId, part: StreamPartId): boolean {
    if (this.blocked.has(a < b ? a + b : b + a)) return false
    return Boolean(this.nodes.get(b)?.parts.get(part)?.wanted.has(a))
  }

  #connect(node: SimulatedNode): void {
    node.connected = true
    node.reconnectAt = Infinity
    this.story.connect(node.id)
    for (const part of node.parts.keys()) this.#report(node, part)
  }

  #disconnected(id: NodeId): void {
    this.story.disconnect(id)
    this.#hear()
  }

  #report(node: SimulatedNode, part: StreamPartId): void {
    const membership = node.parts.get(part)
    if (membership === undefined || !node.connected) return
    const status = statusOf(part, membership.counter, [], membership.failed)
    const neighbours = [...this.attached(node.id, part)].map((id) => ({
      nodeId: id,
      rttMs: this.rttMs?.(node.id, id),
    }))
    membership.failed = []
    this.story.packet(node.id, { ...status, neighbours })
    this.#hear()
  }

  #lose(node: SimulatedNode, part: StreamPartId, lost: NodeId): void {
    const membership = node.parts.get(part)
    if (!membership?.wanted.has(lost) || this.attached(node.id, part).has(lost)) return
    membership.failed.push({ nodeId: lost, reason: 'lost' })
    this.#report(node, part)
  }

  #giveUpDials(node: SimulatedNode): void {
    for (const [part, membership] of node.parts) {
      const before = membership.failed.length
      for (const [other, { sinceMs }] of membership.wanted) {
        if (this.#now - sinceMs < dialTimeoutMs || this.#areAttached(node.id, other, part)) continue
        membership.wanted.set(other, { sinceMs: this.#now })
        membership.failed.push({ nodeId: other, reason: 'timeout' })
      }
      if (membership.failed.length > before) this.#report(node, part)
    }
  }

  /** Puts the instructions sent since the last time on their way. */
  #hear(): void {
    const { effects } = this.story
    while (this.#heard < effects.length) {
      const effect = effects[this.#heard++]
      if (effect?.type !== 'send' || effect.packet.type !== 'instruction') continue
      const { to, packet } = effect
      if (!this.nodes.get(to)?.connected) continue
      const neighbours = packet.neighbours.map((neighbour) => neighbour.nodeId)
      const deliver = () => this.#instructed(to, packet.streamPartId, packet.counter, neighbours)
      if (this.#random.next() >= this.faults.lossRate) this.#later(deliver, to)
      if (this.#random.next() < this.faults.duplicationRate) this.#later(deliver, to)
    }
  }

  #instructed(to: NodeId, part: StreamPartId, counter: number, neighbours: readonly NodeId[]): void {
    const node = this.nodes.get(to)
    const membership = node?.parts.get(part)
    if (node === undefined || membership === undefined || counter <= membership.counter) return
    membership.counter = counter
    const before = membership.wanted
    membership.wanted = new Map(neighbours.map((id) => [id, before.get(id) ?? { sinceMs: this.#now }]))
    this.#report(node, part)
    for (const id of this.attached(to, part)) this.#settled(id, part)
  }

  /** It reports again when the last of its neighbours is attached. */
  #settled(id: NodeId, part: StreamPartId): void {
    const node = this.nodes.get(id)
    const wanted = node?.parts.get(part)?.wanted.size
    if (node !== undefined && this.attached(id, part).size === wanted) this.#report(node, part)
  }

  #later(deliver: () => void, to = '' as NodeId): void {
    this.#inFlight.push({ atMs: this.#now + this.#random.next() * this.faults.maxDelayMs, to, deliver })
  }
}
