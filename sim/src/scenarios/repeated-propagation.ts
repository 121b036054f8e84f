import type { ExperimentOptions, Overlay } from '../experiments/experiment.ts'
import { createLatencyModel } from '../latency/latency-model.ts'
import { mean, round } from '../measures/statistics.ts'
import { runPropagation, type PropagationRun } from './propagation-run.ts'

/** Messages in each run. */
const messages = 100

export interface PropagationRow {
  readonly nodes: number
  readonly overlay: Overlay
  /** Over all messages at all nodes but the publisher, and all runs. */
  readonly meanMs: number
  readonly p99Ms: number
  readonly meanHops: number
  /** Mean delay by the mean one-way delay between any two nodes. */
  readonly rdp: number
  /** By shortest ways over the round-trip times reported to the tracker. */
  readonly estimatedMeanMs: number
  /** Mean absolute error of the estimate, over the runs. */
  readonly mapePercent: number
  readonly minDegree: number
  readonly maxDegree: number
  readonly connected: boolean
  readonly duplicatesPerMessage: number
  /** Virtual seconds from the last join, of the slowest run; null when a run did not converge. */
  readonly convergedAfterS: number | null
  /** Neighbours attached to and not kept. */
  readonly edgeChangesPerNode: number
  /** Deliveries that did not happen. */
  readonly missing: number
  /** The means of the runs with the smallest and the largest. */
  readonly minMeanMs: number
  readonly maxMeanMs: number
  /** Delays at 0 %, 1 % … 100 % of the deliveries. */
  readonly percentilesMs: readonly number[]
  readonly degree: number
  readonly latency: string
  readonly repeats: number
  readonly messages: number
  readonly traceHashes: readonly string[]
}

/** One size, several runs, each with an overlay of its own. */
export async function repeatPropagation(
  options: ExperimentOptions & { readonly nodes: number; readonly degree: number; readonly repeats: number },
  onProgress: (text: string) => void,
): Promise<PropagationRow> {
  const { nodes, degree, overlay, latency, repeats } = options
  const runs: PropagationRun[] = []
  for (let repeat = 0; repeat < repeats; repeat++) {
    const seed = `${options.seed}/${repeat}`
    const model = createLatencyModel({ latency, nodes, seed })
    const say = (text: string): void => onProgress(`${nodes} nodes, run ${repeat + 1} of ${repeats}: ${text}`)
    runs.push(await runPropagation({ seed, degree, overlay, model, messages }, say))
  }
  return { nodes, overlay, ...summarize(runs), degree, latency, repeats, messages }
}

function summarize(runs: readonly PropagationRun[]) {
  const average = (pick: (run: PropagationRun) => number): number => round(mean(runs.map(pick)) ?? 0)
  const meanOf = ({ delaysMs }: PropagationRun): number => mean(delaysMs) ?? 0
  const means = runs.map(meanOf)
  const delaysMs = Float64Array.from(runs.flatMap((run) => run.delaysMs)).sort()
  const convergedAfterS = runs.map((run) => run.convergedAfterS)
  const slowest = convergedAfterS.every((seconds) => seconds !== undefined)
    ? Math.max(...convergedAfterS)
    : null
  return {
    meanMs: average(meanOf),
    p99Ms: round(delaysMs[Math.ceil(0.99 * delaysMs.length) - 1] ?? 0),
    meanHops: average(({ hops }) => mean(hops) ?? 0),
    rdp: average((run) => meanOf(run) / run.underlayMeanMs),
    estimatedMeanMs: average((run) => run.estimatedMeanMs),
    mapePercent: average((run) => 100 * Math.abs(run.estimatedMeanMs / meanOf(run) - 1)),
    minDegree: Math.min(...runs.map((run) => run.minDegree)),
    maxDegree: Math.max(...runs.map((run) => run.maxDegree)),
    connected: runs.every((run) => run.connected),
    duplicatesPerMessage: average((run) => run.duplicatesPerMessage),
    convergedAfterS: slowest,
    edgeChangesPerNode: average((run) => run.edgeChangesPerNode),
    missing: runs.reduce((sum, run) => sum + run.expected - run.delaysMs.length, 0),
    minMeanMs: round(Math.min(...means)),
    maxMeanMs: round(Math.max(...means)),
    percentilesMs: Array.from({ length: 101 }, (_, percent) =>
      round(delaysMs[Math.max(0, Math.ceil((percent / 100) * delaysMs.length) - 1)] ?? 0),
    ),
    traceHashes: runs.map(({ traceHash }) => traceHash),
  }
}
