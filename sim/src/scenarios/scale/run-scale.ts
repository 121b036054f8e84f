import { seededRandom, type NodeId } from '@runnel/protocol'
import { collectSeldom, heldBytes } from '../../measures/heap.ts'
import { pick } from '../formation.ts'
import { shapeOf } from './overlay-shape.ts'
import {
  cpuMs,
  joiningMsOf,
  sampleTimesS,
  type GrowingOverlay,
  type ScaleOptions,
  type ScaleRun,
  type Watched,
} from './scale-run.ts'

/** All join one stream part, and are watched for a while. */
export async function runScale(
  overlay: GrowingOverlay,
  options: ScaleOptions,
  onProgress: (text: string) => void,
): Promise<ScaleRun> {
  const { degree, model, watchedS } = options
  const { nodes } = model
  const joiningMs = joiningMsOf(nodes)
  collectSeldom()
  const [bytesBefore, cpuBefore] = [heldBytes(), cpuMs()]
  for (let index = 0; index < nodes; index++) {
    await overlay.join((joiningMs * (index + 1)) / nodes)
  }
  const perNode = (count: number | undefined) => (count === undefined ? null : count / nodes)
  const trackerMsPerJoin = perNode(overlay.trackerMs)
  const statusesPerJoin = overlay.counters.get('statuses') / nodes
  const instructionsPerJoin = overlay.counters.get('instructions') / nodes
  const watched = await watch(overlay, options, joiningMs, onProgress)
  const replacedMs = await replaceSome(overlay, options, joiningMs + watchedS * 1_000)
  const afterReplacing =
    replacedMs === undefined ? undefined : await watch(overlay, options, replacedMs, onProgress)
  const cpuMsPerNode = (cpuMs() - cpuBefore) / nodes
  const bytesPerNode = (heldBytes() - bytesBefore) / nodes
  return {
    ...{ ...watched, afterReplacing, neighbours: neighboursOf(overlay, degree), complete: overlay.complete },
    ...{ bytesPerNode, cpuMsPerNode, statusesPerJoin, instructionsPerJoin, trackerMsPerJoin },
    trackerMsPerNode: perNode(overlay.trackerMs),
  }
}

async function watch(
  overlay: GrowingOverlay,
  { degree, model, watchedS, seed }: ScaleOptions,
  fromMs: number,
  onProgress: (text: string) => void,
): Promise<Watched> {
  const samples = []
  let rdp = Infinity
  for (const atS of sampleTimesS(watchedS)) {
    await overlay.advanceTo(fromMs + atS * 1_000)
    const sources = seededRandom(`sampled sources of ${seed}`)
    const shape = shapeOf(neighboursOf(overlay, degree), degree, model, sources)
    rdp = shape.rdp
    samples.push({ atS, meanMs: shape.meanMs })
    onProgress(`${model.nodes} nodes, ${atS} s after the last join: RDP ${rdp.toFixed(2)}`)
  }
  return { samples, rdp }
}

/** As fast as all joined. Returns when the last one was replaced; undefined where nobody is. */
async function replaceSome(
  overlay: GrowingOverlay,
  { model: { nodes }, replacedShare = 0, seed }: ScaleOptions,
  fromMs: number,
): Promise<number | undefined> {
  if (replacedShare === 0) return undefined
  const places = pick(
    nodes,
    Math.max(1, Math.round(replacedShare * nodes)),
    seededRandom(`replaced of ${seed}`),
  )
  let atMs = fromMs
  for (const place of places) await overlay.replace(place, (atMs += joiningMsOf(nodes) / nodes))
  return atMs
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
