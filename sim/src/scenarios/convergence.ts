import type { NodeId } from '@runnel/protocol'
import { noArchive } from '../world/no-archive.ts'
import { createPlacedWorld, type PlacedWorldOptions } from './placed-world.ts'

export interface ConvergenceOptions extends PlacedWorldOptions {
  /** All nodes join within this time, evenly, … */
  readonly joiningMs: number
  /** … and are watched for so long afterwards. */
  readonly watchedMs: number
}

/** What an observer should not see at any instant. */
export interface ConvergenceFaults {
  /** How often a node that had its degree was seen with fewer neighbours, counting neighbours attached at both ends. */
  readonly short: number
  /** Times that a node which was in one piece with the first one was not any more. */
  readonly cutOff: number
  /** Changes of neighbours that were looked at. */
  readonly changes: number
}

/** Watches every change of neighbours while nodes join and the overlay improves itself. */
export async function watchConvergence(options: ConvergenceOptions): Promise<ConvergenceFaults> {
  const { degree, model, joiningMs, watchedMs } = options
  const indexes = new Map<NodeId, number>()
  const world = await createPlacedWorld(options, indexes, () => {})
  const watch = new Watch(degree)
  const nodes = []
  for (let index = 0; index < model.nodes; index++) {
    await world.advanceTo((joiningMs * (index + 1)) / model.nodes)
    const name = `node ${index}`
    indexes.set(world.identity(name).nodeId, index)
    const { node, nodeId } = await world.addNode(name, noArchive)
    node.on('neighbours', (_, neighbours) => watch.changed(nodeId, neighbours))
    nodes.push(node)
  }
  await world.advanceTo(joiningMs + watchedMs)
  const { short, cutOff, changes } = watch
  for (const node of nodes) void node.stop()
  return { short, cutOff, changes }
}

class Watch {
  short = 0
  cutOff = 0
  changes = 0
  readonly #degree: number
  readonly #neighbours = new Map<NodeId, ReadonlySet<NodeId>>()
  readonly #complete = new Set<NodeId>()
  #together = new Set<NodeId>()

  constructor(degree: number) {
    this.#degree = degree
  }

  changed(nodeId: NodeId, neighbours: readonly NodeId[]): void {
    this.changes++
    const before = this.#neighbours.get(nodeId) ?? []
    this.#neighbours.set(nodeId, new Set(neighbours))
    for (const id of new Set([nodeId, ...before, ...neighbours])) this.#count(id)
    const together = this.#reachable()
    for (const id of this.#together) if (!together.has(id)) this.cutOff++
    this.#together = together
  }

  #count(nodeId: NodeId): void {
    const { size } = this.#mutual(nodeId)
    if (size >= this.#degree) this.#complete.add(nodeId)
    else if (this.#complete.has(nodeId)) this.short++
  }

  #mutual(nodeId: NodeId): ReadonlySet<NodeId> {
    const neighbours = [...(this.#neighbours.get(nodeId) ?? [])]
    return new Set(neighbours.filter((other) => this.#neighbours.get(other)?.has(nodeId)))
  }

  /** From the first node, over edges that are there at both ends. */
  #reachable(): Set<NodeId> {
    const reached = new Set<NodeId>()
    for (const first of this.#neighbours.keys()) {
      reached.add(first)
      break
    }
    for (const from of reached) for (const to of this.#mutual(from)) reached.add(to)
    return reached
  }
}
