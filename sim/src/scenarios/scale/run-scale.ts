import { seededRandom, type NodeId } from '@runnel/protocol'
import { heldBytes } from '../../measures/heap.ts'
import { shapeOf } from './overlay-shape.ts'
import {
  cpuMs,
  joiningMs,
  sampleTimesS,
  type GrowingOverlay,
  type ScaleOptions,
  type ScaleRun,
} from './scale-run.ts'

/** All join one stream part, and are watched for a while. */
export async function runScale(
  overlay: GrowingOverlay,
  options: ScaleOptions,
  onProgress: (text: string) => void,
): Promise<ScaleRun> {
  const { degree, model, watchedS, seed } = options
  const { nodes } = model
  const [bytesBefore, cpuBefore] = [heldBytes(), cpuMs()]
  for (let index = 0; index < nodes; index++) {
    await overlay.join((joiningMs * (index + 1)) / nodes)
    if (index % 1_000 === 0) onProgress(`${index} of ${nodes} nodes joined`)
  }
  const perNode = (count: number | undefined) => (count === undefined ? null : count / nodes)
  const trackerMsPerJoin = perNode(overlay.trackerMs)
  const statusesPerJoin = overlay.counters.get('statuses') / nodes
  const instructionsPerJoin = overlay.counters.get('instructions') / nodes
  const samples = []
  let rdp = Infinity
  for (const atS of sampleTimesS(watchedS)) {
    await overlay.advanceTo(joiningMs + atS * 1_000)
    const sources = seededRandom(`sampled sources of ${seed}`)
    const shape = shapeOf(neighboursOf(overlay, degree), degree, model, sources)
    rdp = shape.rdp
    samples.push({ atS, meanMs: shape.meanMs })
    onProgress(`${nodes} nodes, ${atS} s after the last join: RDP ${rdp.toFixed(2)}`)
  }
  const cpuMsPerNode = (cpuMs() - cpuBefore) / nodes
  const bytesPerNode = (heldBytes() - bytesBefore) / nodes
  const { complete } = overlay
  return {
    ...{ neighbours: neighboursOf(overlay, degree), samples, rdp, complete, bytesPerNode, cpuMsPerNode },
    ...{ statusesPerJoin, instructionsPerJoin, trackerMsPerJoin },
    trackerMsPerNode: perNode(overlay.trackerMs),
  }
}

/** What the tracker wants, as `shapeOf` takes it. */
function neighboursOf({ indexes, topology }: GrowingOverlay, degree: number): Int32Array {
  const neighbours = new Int32Array(indexes.size * degree).fill(-1)
  for (const [nodeId, index] of indexes) {
    let place = index * degree
    for (const other of topology?.neighbours(nodeId) ?? new Set<NodeId>())
      neighbours[place++] = indexes.get(other) ?? -1
  }
  return neighbours
}
