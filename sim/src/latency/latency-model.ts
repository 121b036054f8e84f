import { seededRandom } from '@runnel/protocol'
import { readLatencyTable, type LatencyTable } from './latency-table.ts'
import { createTransitStub } from './transit-stub.ts'

/** How long a packet takes from one node to another. Nodes are numbered from 0. */
export interface LatencyModel {
  readonly nodes: number
  /** In milliseconds; it need not be the same both ways. */
  oneWayMs(from: number, to: number): number
  /** Where a node is; undefined where the model has no regions. */
  regionOf?(node: number): string | undefined
}

export interface LatencyModelOptions {
  /** `aws`, `aws-lastmile`, `transit-stub`, or a file in the shape of `aws-one-way-delays.json`. */
  readonly latency: string
  readonly nodes: number
  /** Same seed, same latencies. */
  readonly seed: string
}

/** Longest way from a node to its region's backbone in `aws-lastmile`, one way. */
const longestLastMileMs = 10

const awsTable = new URL('./aws-one-way-delays.json', import.meta.url)

/** The model by its name. Throws UNREADABLE_LATENCIES and INVALID_LATENCIES. */
export function createLatencyModel({ latency, nodes, seed }: LatencyModelOptions): LatencyModel {
  const random = seededRandom(`latencies of ${seed}`)
  switch (latency) {
    case 'aws':
      return tableModel(readLatencyTable(awsTable), nodes)
    case 'aws-lastmile': {
      const lastMilesMs = Array.from({ length: nodes }, () => random.next() * longestLastMileMs)
      return withLastMile(tableModel(readLatencyTable(awsTable), nodes), lastMilesMs)
    }
    case 'transit-stub':
      return { nodes, oneWayMs: createTransitStub(nodes, random) }
    default:
      return tableModel(readLatencyTable(latency), nodes)
  }
}

/** The mean from one node to all others. */
export function meanOneWayFromMs({ nodes, oneWayMs }: LatencyModel, from: number): number {
  let sumMs = 0
  for (let to = 0; to < nodes; to++) if (from !== to) sumMs += oneWayMs(from, to)
  return sumMs / (nodes - 1)
}

/** Nodes spread evenly over the regions, in turn. */
function tableModel({ regions, oneWayMs }: LatencyTable, nodes: number): LatencyModel {
  return {
    nodes,
    oneWayMs: (from, to) => oneWayMs[from % regions.length]?.[to % regions.length] ?? 0,
    regionOf: (node) => regions[node % regions.length],
  }
}

function withLastMile(model: LatencyModel, lastMilesMs: readonly number[]): LatencyModel {
  const { oneWayMs } = model
  return {
    ...model,
    oneWayMs: (from, to) => oneWayMs(from, to) + (lastMilesMs[from] ?? 0) + (lastMilesMs[to] ?? 0),
  }
}
