import type { NodeId } from '@runnel/protocol'
import { noArchive } from '../../world/no-archive.ts'
import { World, type SimNode } from '../../world/world.ts'
import { processingMs } from '../formation.ts'
import { limitsFor, type GrowingOverlay, type ScaleOptions } from './scale-run.ts'

/** Production nodes and a production tracker. */
export class ProductionNodes implements GrowingOverlay {
  readonly indexes: Map<NodeId, number>
  /** Not told apart: the tracker runs in between. */
  readonly trackerMs = undefined
  readonly #options: ScaleOptions
  readonly #world: World
  readonly #nodes: SimNode[] = []
  #added = 0

  private constructor(options: ScaleOptions, world: World, indexes: Map<NodeId, number>) {
    this.#options = options
    this.#world = world
    this.indexes = indexes
  }

  static async create(options: ScaleOptions): Promise<ProductionNodes> {
    const { seed, degree, overlay, model } = options
    const indexes = new Map<NodeId, number>()
    const placeOf = (nodeId: NodeId): number => indexes.get(nodeId) ?? 0
    const latencyMs = (from: NodeId, to: NodeId): number =>
      model.oneWayMs(placeOf(from), placeOf(to)) + processingMs
    const trackerLimits = limitsFor(model.nodes)
    const world = await World.create({
      ...{ seed, degree, overlay, trackerLimits, jitterMs: 0, lossRate: () => 0, latencyMs },
      onPassing: (second) => options.onPassing?.(second),
    })
    return new ProductionNodes(options, world, indexes)
  }

  get counters(): World['tracker']['counters'] {
    return this.#world.tracker.counters
  }

  get topology(): GrowingOverlay['topology'] {
    return this.#world.tracked?.topology
  }

  async join(atMs: number): Promise<void> {
    await this.#world.advanceTo(atMs)
    await this.#add(this.#nodes.length)
  }

  async replace(index: number, atMs: number): Promise<void> {
    await this.#world.advanceTo(atMs)
    const node = this.#nodes[index]
    if (node === undefined) return
    this.indexes.delete(node.nodeId)
    this.#world.kill(node, 'closed')
    await this.#add(index)
  }

  async #add(index: number): Promise<void> {
    const name = `node ${this.#added++}`
    // Its place has to be known before it dials.
    this.indexes.set(this.#world.identity(name).nodeId, index)
    this.#nodes[index] = await this.#world.addNode(name, noArchive)
  }

  advanceTo(atMs: number): Promise<void> {
    return this.#world.advanceTo(atMs)
  }

  /** Nodes that have attached to all whom the tracker wants, and are as many as the degree says. */
  get complete(): number {
    const { topology } = this
    const wanted = Math.min(this.#options.degree, this.#nodes.length - 1)
    return this.#nodes.filter(({ node, nodeId }) => {
      const attached = new Set(node.neighboursOf(this.#world.streamPartId))
      const others = topology?.neighbours(nodeId) ?? new Set<NodeId>()
      return others.size >= wanted && [...others].every((other) => attached.has(other))
    }).length
  }
}
