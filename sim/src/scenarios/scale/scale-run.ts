import type { NodeId } from '@runnel/protocol'
import { defaultTrackerLimits, type TrackerCore, type TrackerLimits } from '@runnel/tracker'
import type { Overlay } from '../../experiments/experiment.ts'
import type { LatencyModel } from '../../latency/latency-model.ts'
import type { ShapeSample } from './convergence.ts'

export interface ScaleOptions {
  readonly seed: string
  readonly degree: number
  readonly overlay: Overlay
  readonly model: LatencyModel
  /** Virtual seconds that are watched after the last join. */
  readonly watchedS: number
  /** The part of the nodes that leave then, with others in their places. Default 0. */
  readonly replacedShare?: number
  /** As of `WorldOptions`. */
  onPassing?(second: number): void
}

/** An overlay that nodes join in virtual time, each with the next number. */
export interface GrowingOverlay {
  /** The number of each node. */
  readonly indexes: ReadonlyMap<NodeId, number>
  /** The tracker's. */
  readonly counters: Pick<TrackerCore['counters'], 'get'>
  /** What the tracker wants; undefined before the first node came. */
  readonly topology: { neighbours(nodeId: NodeId): ReadonlySet<NodeId> } | undefined
  /** Nodes that have as many linked neighbours as they should. */
  readonly complete: number
  /** Processor time of the tracker's core so far; undefined where it is not told apart. */
  readonly trackerMs: number | undefined
  /** One more joins, and time has passed up to then. */
  join(atMs: number): void | Promise<void>
  advanceTo(atMs: number): void | Promise<void>
  /** This one leaves, and another whom nobody knows joins in its place; time has passed up to then. */
  replace(index: number, atMs: number): void | Promise<void>
}

/** An overlay watched for a while. */
export interface Watched {
  readonly samples: readonly ShapeSample[]
  /** Relative delay penalty at the end. */
  readonly rdp: number
}

/** What came of so many nodes in one overlay. */
export interface ScaleRun extends Watched {
  /** As `shapeOf` takes them. */
  readonly neighbours: Int32Array
  /** Since the last of those who were replaced; undefined where nobody was. */
  readonly afterReplacing: Watched | undefined
  /** Nodes whose degree is right and whose neighbours are all attached, at the end. */
  readonly complete: number
  /** Bytes held for each node, after a collection, the tracker's and the simulator's own among them. */
  readonly bytesPerNode: number
  /** Statuses the tracker had, and instructions that it sent, until all had joined, for each join. */
  readonly statusesPerJoin: number
  readonly instructionsPerJoin: number
  /** Processor time of the tracker's core for each join, all that followed from it included; null where it was not told apart. */
  readonly trackerMsPerJoin: number | null
  /** The same for each node in all, until the end. */
  readonly trackerMsPerNode: number | null
  /** Processor time of this process for each node, in all. */
  readonly cpuMsPerNode: number
}

/** Nodes that join in a second, at most. */
const joinsPerS = 2_000

/** Virtual time in which all nodes join, evenly: ten seconds, and longer where more would join at once than a tracker can serve. */
export function joiningMsOf(nodes: number): number {
  return Math.max(10_000, (nodes / joinsPerS) * 1_000)
}

/** Of a tracker that takes so many nodes, which is more than by default. */
export function limitsFor(nodes: number): Pick<TrackerLimits, 'maxNodes'> {
  return { maxNodes: Math.max(defaultTrackerLimits.maxNodes, nodes) }
}

/** Processor time of this process so far, in milliseconds. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** When samples are taken after the last join, in virtual seconds: every ten, and at the end. */
export function sampleTimesS(watchedS: number): number[] {
  const times = []
  for (let atS = 10; atS < watchedS; atS += 10) times.push(atS)
  return [...times, watchedS]
}
