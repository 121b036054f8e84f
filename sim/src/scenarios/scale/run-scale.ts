import { seededRandom } from '@runnel/protocol'
import { heldBytes } from '../../measures/heap.ts'
import { ModelledNodes } from './modelled-nodes.ts'
import { shapeOf } from './overlay-shape.ts'
import { cpuMs, joiningMs, sampleTimesS, type ScaleOptions, type ScaleRun } from './scale-run.ts'

/** The production tracker's core and the delay model alone. */
export function runModel(options: ScaleOptions, onProgress: (text: string) => void): ScaleRun {
  const { degree, model, watchedS, seed } = options
  const { nodes } = model
  const modelled = new ModelledNodes(options)
  const [bytesBefore, cpuBefore] = [heldBytes(), cpuMs()]
  for (let index = 0; index < nodes; index++) {
    modelled.join()
    modelled.advanceTo((joiningMs * (index + 1)) / nodes)
    if (index % 10_000 === 0) onProgress(`${index} of ${nodes} nodes joined`)
  }
  const trackerMsPerJoin = modelled.trackerMs / nodes
  const { counters } = modelled.core
  const statusesPerJoin = counters.get('statuses') / nodes
  const instructionsPerJoin = counters.get('instructions') / nodes
  const samples = []
  let rdp = Infinity
  for (const atS of sampleTimesS(watchedS)) {
    modelled.advanceTo(joiningMs + atS * 1_000)
    const shape = shapeOf(modelled.neighbours, degree, model, seededRandom(`sampled sources of ${seed}`))
    rdp = shape.rdp
    samples.push({ atS, meanMs: shape.meanMs })
    onProgress(`${nodes} nodes, ${atS} s after the last join: RDP ${rdp.toFixed(2)}`)
  }
  const cpuMsPerNode = (cpuMs() - cpuBefore) / nodes
  const bytesPerNode = (heldBytes() - bytesBefore) / nodes
  const { neighbours, complete } = modelled
  return {
    ...{ neighbours, samples, rdp, complete, bytesPerNode, cpuMsPerNode, trackerMsPerJoin },
    ...{ statusesPerJoin, instructionsPerJoin },
    trackerMsPerNode: modelled.trackerMs / nodes,
  }
}
