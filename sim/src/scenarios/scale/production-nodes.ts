import type { NodeId } from '@runnel/protocol'
import { heldBytes } from '../../measures/heap.ts'
import { World, type SimNode } from '../../world/world.ts'
import { processingMs } from '../formation.ts'
import { shapeOf } from './overlay-shape.ts'
import { cpuMs, joiningMs, limitsFor, sampleTimesS, type ScaleOptions, type ScaleRun } from './scale-run.ts'

const noArchive = { fill: () => Promise.resolve() }

/** Production nodes and a production tracker: all join one stream part, and are watched for a while. */
export async function runCores(options: ScaleOptions, onProgress: (text: string) => void): Promise<ScaleRun> {
  const { model, watchedS } = options
  const { nodes } = model
  const cores = await Cores.create(options)
  const [bytesBefore, cpuBefore] = [heldBytes(), cpuMs()]
  await cores.join(onProgress)
  const { counters } = cores.world.tracker
  const statusesPerJoin = counters.get('statuses') / nodes
  const instructionsPerJoin = counters.get('instructions') / nodes
  const samples = []
  let rdp = Infinity
  for (const atS of sampleTimesS(watchedS)) {
    await cores.world.advanceTo(joiningMs + atS * 1_000)
    const shape = shapeOf(cores.neighbours, options.degree, model, cores.world.random('sampled sources'))
    rdp = shape.rdp
    samples.push({ atS, meanMs: shape.meanMs })
    onProgress(`${nodes} nodes, ${atS} s after the last join: RDP ${rdp.toFixed(2)}`)
  }
  const cpuMsPerNode = (cpuMs() - cpuBefore) / nodes
  const bytesPerNode = (heldBytes() - bytesBefore) / nodes
  return {
    ...{ neighbours: cores.neighbours, samples, rdp, complete: cores.complete, bytesPerNode, cpuMsPerNode },
    ...{ statusesPerJoin, instructionsPerJoin },
    trackerMsPerJoin: null,
    trackerMsPerNode: null,
  }
}

class Cores {
  readonly world: World
  readonly #options: ScaleOptions
  readonly #indexes: Map<NodeId, number>
  readonly #nodes: SimNode[] = []

  private constructor(options: ScaleOptions, world: World, indexes: Map<NodeId, number>) {
    this.#options = options
    this.world = world
    this.#indexes = indexes
  }

  static async create(options: ScaleOptions): Promise<Cores> {
    const { seed, degree, overlay, model } = options
    const indexes = new Map<NodeId, number>()
    const placeOf = (nodeId: NodeId): number => indexes.get(nodeId) ?? 0
    const latencyMs = (from: NodeId, to: NodeId): number =>
      model.oneWayMs(placeOf(from), placeOf(to)) + processingMs
    const trackerLimits = limitsFor(model.nodes)
    const world = await World.create({
      ...{ seed, degree, overlay, trackerLimits, jitterMs: 0, lossRate: () => 0, latencyMs },
    })
    return new Cores(options, world, indexes)
  }

  async join(onProgress: (text: string) => void): Promise<void> {
    const { nodes } = this.#options.model
    for (let index = 0; index < nodes; index++) {
      await this.world.advanceTo((joiningMs * (index + 1)) / nodes)
      // Its place has to be known before it dials.
      const name = `node ${index}`
      this.#indexes.set(this.world.identity(name).nodeId, index)
      this.#nodes.push(await this.world.addNode(name, noArchive))
      if (index % 1_000 === 0) onProgress(`${index} of ${nodes} nodes joined`)
    }
  }

  /** What the tracker wants. */
  get neighbours(): Int32Array {
    const { degree } = this.#options
    const neighbours = new Int32Array(this.#nodes.length * degree).fill(-1)
    for (const [index, { nodeId }] of this.#nodes.entries()) {
      let place = index * degree
      for (const other of this.world.tracked?.topology.neighbours(nodeId) ?? [])
        neighbours[place++] = this.#indexes.get(other) ?? -1
    }
    return neighbours
  }

  /** Nodes that have attached to all whom the tracker wants, and are as many as the degree says. */
  get complete(): number {
    const topology = this.world.tracked?.topology
    const wanted = Math.min(this.#options.degree, this.#nodes.length - 1)
    return this.#nodes.filter(({ node, nodeId }) => {
      const attached = new Set(node.neighboursOf(this.world.streamPartId))
      const others = topology?.neighbours(nodeId) ?? new Set<NodeId>()
      return others.size >= wanted && [...others].every((other) => attached.has(other))
    }).length
  }
}
