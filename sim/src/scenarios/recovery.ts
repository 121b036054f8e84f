import type { NodeId } from '@runnel/protocol'
import type { OverlayStrategyName } from '@runnel/protocol'
import type { LatencyModel } from '../latency/latency-model.ts'
import { noArchive } from '../world/no-archive.ts'
import { World, type Death, type SimNode } from '../world/world.ts'

export interface RecoveryOptions {
  readonly seed: string
  readonly degree: number
  readonly overlay: OverlayStrategyName
  readonly model: LatencyModel
  /** Virtual time between the last join and the loss. */
  readonly formingMs: number
  readonly death: Death
  /** Whether a node, by its number, is lost. */
  isLost(index: number): boolean
}

export interface Recovery {
  readonly survivors: number
  /**
   * Virtual seconds from the loss until all survivors lastingly have their degree in one connected overlay; null if they never
   * did.
   */
  readonly recoveredAfterS: number | null
  /** Times that the tracker wanted a survivor to have a new neighbour that was lost. */
  readonly sentToTheLost: number
}

/** All nodes join within this time, evenly. */
const joiningMs = 10_000
/** What a node needs to take a frame and pass it on, in milliseconds. */
const processingMs = 0.3
const sampleMs = 100
/** Looked at for so long after the loss. */
const watchedMs = 40_000

/** Nodes of an overlay are lost at one instant: how long until the others have their degree again, and are one piece? */
export async function runRecovery(options: RecoveryOptions): Promise<Recovery> {
  const { seed, degree, overlay, model, formingMs, death, isLost } = options
  const indexes = new Map<NodeId, number>()
  const placeOf = (nodeId: NodeId): number => indexes.get(nodeId) ?? 0
  const world = await World.create({
    seed,
    degree,
    overlay,
    jitterMs: 0,
    lossRate: () => 0,
    latencyMs: (from, to) => model.oneWayMs(placeOf(from), placeOf(to)) + processingMs,
  })
  const nodes: SimNode[] = []
  for (let index = 0; index < model.nodes; index++) {
    await world.advanceTo((joiningMs * (index + 1)) / model.nodes)
    const name = `node ${index}`
    indexes.set(world.identity(name).nodeId, index)
    nodes.push(await world.addNode(name, noArchive))
  }
  const lostAtMs = joiningMs + formingMs
  await world.advanceTo(lostAtMs)
  const survivors = nodes.filter((_, index) => !isLost(index))
  const alive = new Set(survivors.map(({ nodeId }) => nodeId))
  for (const [index, node] of nodes.entries()) if (isLost(index)) world.kill(node, death)
  const toLost = new Set(edgesToLost(world, alive))
  const had = toLost.size
  let wrongAtMs = lostAtMs
  for (let atMs = lostAtMs + sampleMs; atMs <= lostAtMs + watchedMs; atMs += sampleMs) {
    await world.advanceTo(atMs)
    for (const edge of edgesToLost(world, alive)) toLost.add(edge)
    if (!isWhole(survivors, alive, degree)) wrongAtMs = atMs
  }
  for (const { node } of survivors) void node.stop()
  const recovered = wrongAtMs < lostAtMs + watchedMs
  return {
    survivors: survivors.length,
    recoveredAfterS: recovered ? (wrongAtMs + sampleMs - lostAtMs) / 1000 : null,
    sentToTheLost: toLost.size - had,
  }
}

function* edgesToLost(world: World, alive: ReadonlySet<NodeId>): Generator<string> {
  for (const [a, b] of world.tracked?.topology.edges() ?? [])
    if (alive.has(a) !== alive.has(b)) yield a < b ? `${a} ${b}` : `${b} ${a}`
}

/** Whether all have their degree among each other, but for one of an odd number of slots, and are in one piece. */
function isWhole(survivors: readonly SimNode[], alive: ReadonlySet<NodeId>, degree: number): boolean {
  const attached = new Map(
    survivors.map(({ nodeId, node }) => [
      nodeId,
      new Set(node.metrics().streamParts.flatMap((part) => part.neighbours.map((peer) => peer.nodeId))),
    ]),
  )
  const mutual = (id: NodeId): NodeId[] =>
    [...(attached.get(id) ?? [])].filter((peer) => alive.has(peer) && attached.get(peer)?.has(id))
  const missing = survivors.reduce((sum, { nodeId }) => sum + Math.max(0, degree - mutual(nodeId).length), 0)
  const first = survivors[0]
  if (first === undefined || missing > (survivors.length * degree) % 2) return false
  const reached = new Set([first.nodeId])
  for (const from of reached) for (const to of mutual(from)) reached.add(to)
  return reached.size === survivors.length
}
