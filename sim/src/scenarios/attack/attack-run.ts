import type { NodeId } from '@runnel/protocol'
import { FloodWatch, type FloodCosts } from '../../measures/flood-costs.ts'
import { ChainPublisher } from '../../world/chain-publisher.ts'
import { noArchive } from '../../world/no-archive.ts'
import type { SimNode, World } from '../../world/world.ts'
import { createPlacedWorld, formingMs, joiningMs, type PlacedWorldOptions } from '../placed-world.ts'
import { Attacker, type Attack } from './attacker.ts'

export interface AttackOptions extends PlacedWorldOptions {
  readonly attack: Attack
  readonly nodes: number
  readonly attackers: number
  readonly fillGaps: boolean
  /** Messages of each publisher in a second. Default 1. */
  readonly rate?: number | undefined
}

export interface AttackReport extends FloodCosts {
  /** Honest nodes that got every message, and a share of them. */
  readonly complete: number
  readonly completeShare: number
  readonly published: number
  /** Messages that honest nodes did not get, over all of them. */
  readonly missed: number
  /** Links between an honest node and an attacker that were attached as the attack struck, on average for each attacker. */
  readonly edgesPerAttacker: number
  /** Honest nodes with so many attackers among their neighbours then: index 0 for none. */
  readonly honestByAttackers: readonly number[]
  /** Different honest neighbours that an attacker had until then, on average; and an honest node. */
  readonly neighboursOfAttacker: number
  readonly neighboursOfHonest: number
  /** Of the node that attackers gather around: the most attackers beside it at any time, and how long it had no other neighbour. */
  readonly victim: { readonly mostAttackers: number; readonly eclipsedMs: number; readonly missed: number }
}

const publishers = 5
/** How long each publishes. */
const publishingMs = 10_000
/** Published before the attack strikes. */
const beforeMs = 4_000
/** After the last message. */
const settlingMs = 30_000
/** Attackers around a victim that are not beside it leave and come again this often. */
const rejoinMs = 2_000
const lookMs = 250

/** Honest nodes and attackers in one stream part, and what comes of the messages of the honest. */
export async function runAttack(
  options: AttackOptions,
  onProgress: (text: string) => void,
): Promise<AttackReport> {
  const places = new Map<NodeId, number>()
  const world = await createPlacedWorld(options, places, onProgress)
  const run = new AttackRun(options, world, places)
  await run.join()
  await run.strike()
  return run.report()
}

class AttackRun {
  readonly #options: AttackOptions
  readonly #world: World
  readonly #places: Map<NodeId, number>
  readonly #honest: SimNode[] = []
  readonly #honestIds: NodeId[] = []
  readonly #attackers: Attacker[] = []
  readonly #attackerIds = new Set<NodeId>()
  readonly #received = new Map<NodeId, number>()
  readonly #neighbours = new Map<NodeId, readonly NodeId[]>()
  /** All peers that a node was ever attached to. */
  readonly #met = new Map<NodeId, Set<NodeId>>()
  readonly #costs: FloodWatch
  #published = 0
  #struck: Pick<
    AttackReport,
    'edgesPerAttacker' | 'honestByAttackers' | 'neighboursOfAttacker' | 'neighboursOfHonest'
  > = {
    edgesPerAttacker: 0,
    honestByAttackers: [],
    neighboursOfAttacker: 0,
    neighboursOfHonest: 0,
  }
  #mostAttackers = 0
  #eclipsedMs = 0

  constructor(options: AttackOptions, world: World, places: Map<NodeId, number>) {
    this.#options = options
    this.#world = world
    this.#places = places
    this.#costs = new FloodWatch(world.clock)
  }

  /** The attackers come evenly among the others; where they are after a victim, all around its join. */
  async join(): Promise<void> {
    const { attack, nodes, attackers, overlay } = this.#options
    const victimAt = Math.floor(nodes / 2)
    for (let i = 0; i < nodes; i++) {
      await this.#pass((joiningMs * (i + 1)) / nodes)
      const due =
        attack === 'eclipse' ? (i < victimAt ? 0 : attackers) : Math.floor(((i + 1) * attackers) / nodes)
      if (attack === 'eclipse' && i === victimAt) await this.#addHonest(i)
      while (this.#attackers.length < due) await this.#addAttacker()
      if (attack !== 'eclipse' || i !== victimAt) await this.#addHonest(i)
    }
    await this.#pass(joiningMs + formingMs[overlay])
  }

  async strike(): Promise<void> {
    const startMs = this.#world.clock.monotonicMs()
    for (let i = 0; i < publishers; i++) this.#publish(i, startMs + (i * this.#intervalMs) / publishers)
    await this.#pass(startMs + beforeMs)
    this.#struck = this.#look()
    if (this.#options.attack === 'hub') for (const attacker of this.#attackers) attacker.goDark()
    await this.#pass(startMs + publishingMs + settlingMs)
  }

  report(): AttackReport {
    const missedBy = (nodeId: NodeId): number => this.#published - (this.#received.get(nodeId) ?? 0)
    const missed = this.#honestIds.map(missedBy)
    const complete = missed.filter((count) => count === 0).length
    const [victimId] = this.#victims
    const costs = this.#costs.costs()
    for (const { node } of this.#honest) void node.stop()
    return {
      complete,
      completeShare: complete / this.#honest.length,
      published: this.#published,
      missed: missed.reduce((sum, count) => sum + count, 0),
      ...this.#struck,
      ...costs,
      victim: {
        mostAttackers: this.#mostAttackers,
        eclipsedMs: Math.round(this.#eclipsedMs),
        missed: victimId === undefined ? 0 : missedBy(victimId),
      },
    }
  }

  get #intervalMs(): number {
    return 1_000 / (this.#options.rate ?? 1)
  }

  get #victims(): readonly NodeId[] {
    return this.#options.attack === 'eclipse'
      ? this.#honestIds.slice(Math.floor(this.#options.nodes / 2)).slice(0, 1)
      : []
  }

  async #addHonest(index: number): Promise<void> {
    const name = `node ${index}`
    const { nodeId } = this.#world.identity(name)
    this.#places.set(nodeId, index)
    this.#honestIds.push(nodeId)
    const sim = await this.#world.addNode(name, noArchive, { fillGaps: this.#options.fillGaps })
    this.#honest.push(sim)
    this.#watch(sim)
    this.#costs.add(sim.node)
    sim.node.on('message', ({ from }) => {
      // A publisher has its own messages without being sent them.
      if (from !== undefined) this.#received.set(nodeId, (this.#received.get(nodeId) ?? 0) + 1)
    })
  }

  async #addAttacker(): Promise<void> {
    const { attack, nodes } = this.#options
    const index = this.#attackers.length
    const name = `attacker ${index}`
    const { nodeId } = this.#world.identity(name)
    this.#places.set(nodeId, nodes + index)
    this.#attackerIds.add(nodeId)
    const attacker = new Attacker(attack, { world: this.#world, honest: () => this.#honestIds })
    this.#attackers.push(attacker)
    await attacker.start(name)
    this.#watch(attacker.sim)
    if (attack === 'eclipse') this.#comeAgain(attacker, index)
  }

  #watch({ node, nodeId }: SimNode): void {
    const met = new Set<NodeId>()
    this.#met.set(nodeId, met)
    node.on('neighbours', (_, neighbours) => {
      this.#neighbours.set(nodeId, neighbours)
      for (const other of neighbours) met.add(other)
    })
  }

  /** Leaves and joins again until it is beside the victim, and stays there. */
  #comeAgain(attacker: Attacker, index: number): void {
    const { clock, streamPartId } = this.#world
    const { node, nodeId } = attacker.sim
    const again = (): void => {
      const [victimId] = this.#victims
      if (victimId !== undefined && !this.#neighbours.get(nodeId)?.includes(victimId)) {
        node.leave(streamPartId)
        node.join(streamPartId)
      }
      clock.schedule(rejoinMs, again)
    }
    clock.schedule(rejoinMs + index, again)
  }

  #publish(number: number, atMs: number): void {
    const { clock, crypto, streamPartId } = this.#world
    const sim = this.#honest[Math.floor((number * this.#honest.length) / publishers)]
    const identity = this.#world.identity(`publisher ${number}`)
    const publisher = new ChainPublisher({ streamPartId }, { clock, crypto, identity })
    const next = (): void => {
      if (sim === undefined || publisher.count >= publishingMs / this.#intervalMs) return
      sim.node.publish(publisher.next())
      this.#published++
      this.#received.set(sim.nodeId, (this.#received.get(sim.nodeId) ?? 0) + 1)
      clock.schedule(this.#intervalMs, next)
    }
    clock.schedule(atMs - clock.monotonicMs(), next)
  }

  async #pass(untilMs: number): Promise<void> {
    const { clock } = this.#world
    while (clock.monotonicMs() < untilMs) {
      const beforeMs = clock.monotonicMs()
      await this.#world.advanceTo(Math.min(untilMs, beforeMs + lookMs))
      const [victimId] = this.#victims
      const neighbours = victimId === undefined ? [] : (this.#neighbours.get(victimId) ?? [])
      const attackers = neighbours.filter((id) => this.#attackerIds.has(id)).length
      this.#mostAttackers = Math.max(this.#mostAttackers, attackers)
      if (attackers > 0 && attackers === neighbours.length) this.#eclipsedMs += clock.monotonicMs() - beforeMs
    }
  }

  /** The neighbours at the moment of the attack, as honest nodes see them. */
  #look(): Pick<
    AttackReport,
    'edgesPerAttacker' | 'honestByAttackers' | 'neighboursOfAttacker' | 'neighboursOfHonest'
  > {
    const { degree } = this.#options
    const honestByAttackers = Array.from({ length: degree + 1 }, () => 0)
    let edges = 0
    for (const nodeId of this.#honestIds) {
      const count = (this.#neighbours.get(nodeId) ?? []).filter((id) => this.#attackerIds.has(id)).length
      edges += count
      honestByAttackers[Math.min(count, degree)] = (honestByAttackers[Math.min(count, degree)] ?? 0) + 1
    }
    const metOf = (ids: Iterable<NodeId>, count: number): number => {
      let sum = 0
      for (const id of ids) sum += this.#met.get(id)?.size ?? 0
      return sum / Math.max(1, count)
    }
    return {
      edgesPerAttacker: edges / Math.max(1, this.#attackers.length),
      honestByAttackers,
      neighboursOfAttacker: metOf(this.#attackerIds, this.#attackerIds.size),
      neighboursOfHonest: metOf(this.#honestIds, this.#honestIds.length),
    }
  }
}
