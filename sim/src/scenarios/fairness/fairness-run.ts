import type { NodeId } from '@runnel/protocol'
import type { Overlay } from '../../experiments/experiment.ts'
import type { LatencyModel } from '../../latency/latency-model.ts'
import { ranksOf } from '../../measures/ranks.ts'
import { ChainPublisher } from '../../world/chain-publisher.ts'
import type { SimNode, World } from '../../world/world.ts'
import { processingMs } from '../formation.ts'
import { createPlacedWorld } from '../placed-world.ts'
import { startNodeOf, type Conduct } from './conduct.ts'

export interface FairnessOptions {
  readonly seed: string
  readonly degree: number
  readonly overlay: Overlay
  readonly model: LatencyModel
  /** Of the nodes with these numbers; all others are honest, and they alone publish. */
  readonly conduct: Conduct
  readonly subjects: ReadonlySet<number>
}

/** What one node had of the messages of the others. Nodes are numbered in the order in which they joined. */
export interface Hearing {
  /** Mean place among all that heard, message by message: 0 is first, 1 last. */
  readonly rank: number
  /** Of the messages that it got. */
  readonly meanMs: number
  /** Mean one-way delay of the underlay from those who published. */
  readonly directMs: number
  readonly missed: number
}

/** All join within this time, evenly: the first are many times as long in the overlay as the last. */
const joiningMs = 120_000
/** From the last join until messages begin; nobody leaves or joins in the last of it. */
const formingMs = 60_000
const calmMs = 20_000
const messages = 120
const intervalMs = 50
const arrivingMs = 10_000

/** Who hears first, in an overlay in which some nodes may not be honest. */
export async function runFairness(
  options: FairnessOptions,
  onProgress: (text: string) => void,
): Promise<readonly Hearing[]> {
  const { model } = options
  const places = new Map<NodeId, number>()
  const oneWayMs = (from: NodeId, to: NodeId): number =>
    model.oneWayMs(places.get(from) ?? 0, places.get(to) ?? 0) + processingMs
  const world = await createPlacedWorld(options, places, onProgress)
  const run = new FairnessRun(options, world, places, oneWayMs)
  await run.join()
  return run.publish()
}

class FairnessRun {
  readonly #options: FairnessOptions
  readonly #world: World
  readonly #places: Map<NodeId, number>
  readonly #oneWayMs: (from: NodeId, to: NodeId) => number
  readonly #nodes: SimNode[] = []
  /** By publisher: when it published, and when each node had it. */
  readonly #heard = new Map<NodeId, { readonly atMs: number; readonly delaysMs: (number | undefined)[] }>()

  constructor(
    options: FairnessOptions,
    world: World,
    places: Map<NodeId, number>,
    oneWayMs: (from: NodeId, to: NodeId) => number,
  ) {
    this.#options = options
    this.#world = world
    this.#places = places
    this.#oneWayMs = oneWayMs
  }

  async join(): Promise<void> {
    const { model, subjects, conduct } = this.#options
    const world = this.#world
    for (let index = 0; index < model.nodes; index++) {
      await world.advanceTo((joiningMs * (index + 1)) / model.nodes)
      const name = `node ${index}`
      const { nodeId } = world.identity(name)
      this.#places.set(nodeId, index)
      const sim = await startNodeOf(subjects.has(index) ? conduct : 'honest', name, {
        world,
        rttMs: (to) => this.#oneWayMs(nodeId, to) + this.#oneWayMs(to, nodeId),
        mayRejoin: () => world.clock.monotonicMs() < joiningMs + formingMs - calmMs,
      })
      this.#nodes.push(sim)
      sim.node.on('message', ({ message, from }) => {
        const heard = this.#heard.get(message.publisherId)
        if (heard !== undefined && from !== undefined)
          heard.delaysMs[index] = world.clock.monotonicMs() - heard.atMs
      })
    }
    await world.advanceTo(joiningMs + formingMs)
  }

  /** Every message is the first of a chain of its own, so that each takes the ways that are the fastest for it. */
  async publish(): Promise<readonly Hearing[]> {
    const { subjects, model } = this.#options
    const { clock, crypto, streamPartId } = this.#world
    const honest = Array.from({ length: model.nodes }, (_, i) => i).filter((index) => !subjects.has(index))
    const startMs = clock.monotonicMs()
    const sources: number[] = []
    for (let number = 0; number < messages; number++) {
      await this.#world.advanceTo(startMs + number * intervalMs)
      const source = honest[Math.floor((number * honest.length) / messages)] ?? 0
      const identity = this.#world.identity(`publisher ${number}`)
      const delaysMs = Array.from({ length: model.nodes }, () => undefined)
      this.#heard.set(identity.nodeId, { atMs: clock.monotonicMs(), delaysMs })
      sources.push(source)
      const publisher = new ChainPublisher({ streamPartId }, { clock, crypto, identity })
      this.#nodes[source]?.node.publish(publisher.next())
    }
    await this.#world.advanceTo(clock.monotonicMs() + arrivingMs)
    for (const { node } of this.#nodes) void node.stop()
    return this.#hearings(sources)
  }

  #hearings(sources: readonly number[]): readonly Hearing[] {
    const { model } = this.#options
    const sums = Array.from({ length: model.nodes }, () => ({
      of: 0,
      rank: 0,
      ms: 0,
      directMs: 0,
      missed: 0,
    }))
    for (const [number, { delaysMs }] of [...this.#heard.values()].entries()) {
      const source = sources[number] ?? 0
      const others = [...sums.keys()].filter((index) => index !== source)
      const ranks = ranksOf(others.map((index) => delaysMs[index]))
      for (const [at, index] of others.entries()) {
        const [sum, delayMs] = [sums[index], delaysMs[index]]
        if (sum === undefined) continue
        sum.of++
        sum.rank += ranks[at] ?? 1
        sum.directMs += model.oneWayMs(source, index)
        if (delayMs === undefined) sum.missed++
        else sum.ms += delayMs
      }
    }
    return sums.map(({ of, rank, ms, directMs, missed }) => ({
      rank: rank / of,
      meanMs: ms / Math.max(1, of - missed),
      directMs: directMs / of,
      missed,
    }))
  }
}
