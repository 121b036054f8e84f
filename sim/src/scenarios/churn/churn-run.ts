import { PacketType, type NodeId } from '@runnel/protocol'
import { FloodWatch, type FloodCosts } from '../../measures/flood-costs.ts'
import { Recoveries } from '../../measures/recoveries.ts'
import { ChainPublisher } from '../../world/chain-publisher.ts'
import { noArchive } from '../../world/no-archive.ts'
import { tapped } from '../../world/tapped-transport.ts'
import type { SimNode, World } from '../../world/world.ts'
import { createPlacedWorld, formingMs, joiningMs, type PlacedWorldOptions } from '../placed-world.ts'

export interface ChurnOptions extends PlacedWorldOptions {
  readonly nodes: number
  /** So many of a hundred nodes leave, and as many join, in a minute; `half`: half of all are lost at one instant. */
  readonly rate: number | 'half'
  /** Messages of each publisher in a second. Default 1. */
  readonly messagesPerS?: number | undefined
}

/** Costs are those of the nodes that were there before the first message. */
export interface ChurnReport extends FloodCosts {
  readonly joins: number
  readonly leaves: number
  /** Nodes that were there all the time, and deliveries to them that there should have been and were. */
  readonly survivors: number
  readonly expected: number
  readonly delivered: number
  /** From each join or leave until all nodes concerned had their degree; null if they did not by the end. */
  readonly recoveriesMs: readonly (number | null)[]
  /** Sent by nodes to nodes and to the tracker, and by the tracker to nodes, without data and pings. */
  readonly controlPerNodeMinute: number
  /** Of these, packets about how far message chains were received: messages cause them, not churn. */
  readonly headsPerNodeMinute: number
  /** Neighbours attached to in a minute. */
  readonly edgeChangesPerNodeMinute: number
}

/** Of joins, leaves and messages. */
const churnMs = 60_000
/** Half are lost so long after the first message. */
const halfLostMs = 5_000
const settlingMs = 40_000
const lookMs = 100
const publishers = 3

/** Nodes come and go while others publish. */
export async function runChurn(
  options: ChurnOptions,
  onProgress: (text: string) => void,
): Promise<ChurnReport> {
  const places = new Map<NodeId, number>()
  const world = await createPlacedWorld(options, places, onProgress)
  const run = new ChurnRun(options, world, places)
  await run.form()
  await run.churn()
  return run.report()
}

/** How many places a model needs: for present and future nodes. */
export function placesFor(nodes: number, rate: number | 'half'): number {
  return rate === 'half' ? nodes : nodes + eventsOf(nodes, rate)
}

function eventsOf(nodes: number, rate: number): number {
  return Math.max(1, Math.round((nodes * rate * churnMs) / 60_000 / 100))
}

class ChurnRun {
  readonly #options: ChurnOptions
  readonly #world: World
  readonly #places: Map<NodeId, number>
  readonly #alive = new Map<NodeId, SimNode>()
  readonly #founders = new Set<NodeId>()
  readonly #neighbours = new Map<NodeId, ReadonlySet<NodeId>>()
  readonly #received = new Map<NodeId, number>()
  /** Nodes that publish, and so stay. */
  readonly #staying = new Set<NodeId>()
  readonly #recoveries = new Recoveries()
  readonly #costs: FloodWatch
  #named = 0
  #joins = 0
  #leaves = 0
  #published = 0
  #control = 0
  #heads = 0
  #attached = 0
  #nodeMs = 0
  #isCounting = false

  constructor(options: ChurnOptions, world: World, places: Map<NodeId, number>) {
    this.#options = options
    this.#world = world
    this.#places = places
    this.#costs = new FloodWatch(world.clock)
  }

  async form(): Promise<void> {
    const { nodes, overlay } = this.#options
    for (let i = 0; i < nodes; i++) {
      await this.#world.advanceTo((joiningMs * (i + 1)) / nodes)
      await this.#join()
    }
    await this.#world.advanceTo(joiningMs + formingMs[overlay])
    for (const [nodeId, { node }] of this.#alive) {
      this.#founders.add(nodeId)
      this.#costs.add(node)
    }
  }

  async churn(): Promise<void> {
    const { clock } = this.#world
    const { nodes, rate } = this.#options
    const startMs = clock.monotonicMs()
    const random = this.#world.random('churn')
    for (let i = 0; i < publishers; i++) this.#publish(i, startMs + churnMs)
    this.#isCounting = true
    if (rate === 'half') {
      await this.#pass(startMs + halfLostMs)
      this.#loseHalf()
    } else {
      const events = eventsOf(nodes, rate)
      for (let i = 0; i < events; i++) {
        await this.#pass(startMs + ((i + random.next()) * churnMs) / events)
        this.#leaveOne(i % 2 === 0)
        const { nodeId } = await this.#join()
        this.#joins++
        this.#recoveries.happened(clock.monotonicMs(), [nodeId])
      }
    }
    await this.#pass(startMs + churnMs)
    this.#isCounting = false
    await this.#pass(startMs + churnMs + settlingMs)
  }

  report(): ChurnReport {
    const survivors = [...this.#founders].filter((nodeId) => this.#alive.has(nodeId))
    const minutes = this.#nodeMs / 60_000
    const costs = this.#costs.costs(({ nodeId }) => this.#alive.has(nodeId))
    for (const { node } of this.#alive.values()) void node.stop()
    return {
      ...costs,
      joins: this.#joins,
      leaves: this.#leaves,
      survivors: survivors.length,
      expected: survivors.length * this.#published,
      delivered: survivors.reduce((sum, nodeId) => sum + (this.#received.get(nodeId) ?? 0), 0),
      recoveriesMs: this.#recoveries.durationsMs,
      controlPerNodeMinute: this.#control / minutes,
      headsPerNodeMinute: this.#heads / minutes,
      edgeChangesPerNodeMinute: this.#attached / minutes,
    }
  }

  async #join(): Promise<SimNode> {
    const index = this.#named++
    const name = `node ${index}`
    const { nodeId } = this.#world.identity(name)
    this.#places.set(nodeId, index)
    const sim = await this.#world.addNode(name, noArchive, {}, (transport) =>
      tapped(transport, {
        sending: (_, packet) => {
          this.#count(packet[0])
          return packet
        },
        received: (peerId, type) => {
          if (peerId === this.#world.trackerId) this.#count(type)
        },
      }),
    )
    this.#alive.set(nodeId, sim)
    this.#neighbours.set(nodeId, new Set())
    sim.node.on('neighbours', (_, neighbours) => this.#changed(nodeId, neighbours))
    sim.node.on('message', () => {
      this.#received.set(nodeId, (this.#received.get(nodeId) ?? 0) + 1)
    })
    return sim
  }

  #count(type: number | undefined): void {
    if (!this.#isCounting || type === undefined || type < PacketType.data) return
    if (type === PacketType.heads) this.#heads++
    else if (type !== PacketType.data) this.#control++
  }

  #changed(nodeId: NodeId, neighbours: readonly NodeId[]): void {
    const before = this.#neighbours.get(nodeId)
    if (this.#isCounting) this.#attached += neighbours.filter((other) => before?.has(other) !== true).length
    if (this.#alive.has(nodeId)) this.#neighbours.set(nodeId, new Set(neighbours))
  }

  /** Every second one goes without a word. */
  #leaveOne(isSilent: boolean): void {
    const random = this.#world.random(`leave ${this.#leaves}`)
    const candidates = [...this.#alive.values()].filter(({ nodeId }) => !this.#staying.has(nodeId))
    const sim = candidates[Math.floor(random.next() * candidates.length)]
    if (sim === undefined) return
    this.#recoveries.happened(this.#world.clock.monotonicMs(), this.#gone(sim))
    if (isSilent) this.#world.kill(sim, 'silent')
    else void sim.node.stop()
  }

  #loseHalf(): void {
    const candidates = [...this.#alive.values()].filter(({ nodeId }) => !this.#staying.has(nodeId))
    const random = this.#world.random('half')
    const concerned: NodeId[] = []
    for (let left = Math.floor(this.#alive.size / 2); left > 0 && candidates.length > 0; left--) {
      const [sim] = candidates.splice(Math.floor(random.next() * candidates.length), 1)
      if (sim === undefined) continue
      concerned.push(...this.#gone(sim))
      this.#world.kill(sim, 'silent')
    }
    this.#recoveries.happened(this.#world.clock.monotonicMs(), concerned)
  }

  /** The nodes it concerns. */
  #gone({ nodeId }: SimNode): NodeId[] {
    this.#alive.delete(nodeId)
    this.#neighbours.delete(nodeId)
    this.#leaves++
    return [...this.#neighbours].flatMap(([other, neighbours]) => (neighbours.has(nodeId) ? [other] : []))
  }

  #publish(number: number, untilMs: number): void {
    const { clock, crypto, streamPartId } = this.#world
    const sims = [...this.#alive.values()]
    const sim = sims[Math.floor((number * sims.length) / publishers)]
    if (sim === undefined) return
    this.#staying.add(sim.nodeId)
    const identity = this.#world.identity(`publisher ${number}`)
    const publisher = new ChainPublisher({ streamPartId }, { clock, crypto, identity })
    const intervalMs = 1_000 / (this.#options.messagesPerS ?? 1)
    const next = (): void => {
      if (clock.monotonicMs() >= untilMs) return
      sim.node.publish(publisher.next())
      this.#published++
      clock.schedule(intervalMs, next)
    }
    clock.schedule((number * intervalMs) / publishers, next)
  }

  async #pass(untilMs: number): Promise<void> {
    const { clock } = this.#world
    while (clock.monotonicMs() < untilMs) {
      const fromMs = clock.monotonicMs()
      await this.#world.advanceTo(Math.min(untilMs, fromMs + lookMs))
      const nowMs = clock.monotonicMs()
      if (this.#isCounting) this.#nodeMs += (nowMs - fromMs) * this.#alive.size
      this.#recoveries.look(nowMs, this.#neighbours, this.#options.degree)
    }
  }
}
