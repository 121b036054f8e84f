import type { ExperimentOptions, Overlay } from '../experiments/experiment.ts'
import { createLatencyModel } from '../latency/latency-model.ts'
import { hundredths, mean, round, standardError } from '../measures/statistics.ts'
import { published } from '../published/thesis.ts'
import type { FormationWatch } from './formation.ts'
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
  readonly maxHops: number
  /** Mean delay of the deliveries that took 25 hops or more, as in section 5.4.3 of the thesis, and their share; null where there were none. */
  readonly longPathMeanMs: number | null
  readonly longPathPercent: number
  /** Mean delay by the mean one-way delay from the nodes that published. */
  readonly rdp: number
  /** The same of what the first node sends, by its own mean one-way delay. */
  readonly rdpOfFirst: number
  /** From all nodes to all others (of more than 2,048 from as many), by shortest ways over the round-trip times reported to the tracker. */
  readonly estimatedMeanMs: number
  /** How far that may be from the mean of endlessly many overlays: its standard error, from how the runs differ; null for one run. */
  readonly estimatedErrorMs: number | null
  /** Mean absolute error of such an estimate from the nodes that published, over the runs. */
  readonly mapePercent: number
  /** What the tracker says over HTTP of the mean delay between all nodes, and its mean absolute error; null when it says nothing. */
  readonly predictedMeanMs: number | null
  readonly predictionMapePercent: number | null
  /** Neighbours per node as the tracker wants them, and as nodes have attached them when the messages begin: one more while an edge is replaced. */
  readonly minDegree: number
  readonly maxDegree: number
  readonly minAttached: number
  readonly maxAttached: number
  readonly connected: boolean
  /** From the moment all degrees were right: at every change of neighbours and, of what the tracker wants, four times a second. */
  readonly connectedThroughout: boolean
  readonly disconnectedMs: number
  readonly minAttachedThroughout: number
  readonly maxAttachedThroughout: number
  /** Checks of the wanted overlay, and how many found it not connected or not of exact degree. */
  readonly looks: number
  readonly wrongLooks: number
  readonly duplicatesPerMessage: number
  /** Virtual seconds from the last join, of the slowest run; null when a run did not converge. */
  readonly convergedAfterS: number | null
  /** Virtual seconds from the last join that were waited for the overlay to settle, of the slowest run. */
  readonly formationS: number
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
    ...summarizePaths(runs),
    rdp: average((run) => meanOf(run) / run.directMeanMs),
    rdpOfFirst: average((run) => run.rdpOfFirst),
    estimatedMeanMs: average((run) => run.estimatedMeanMs),
    estimatedErrorMs: standardError(runs.map((run) => run.estimatedMeanMs)),
    mapePercent: average((run) => 100 * Math.abs(run.estimatedMeanOfPublishersMs / meanOf(run) - 1)),
    ...summarizePredictions(runs),
    minDegree: Math.min(...runs.map((run) => run.minDegree)),
    maxDegree: Math.max(...runs.map((run) => run.maxDegree)),
    minAttached: Math.min(...runs.map((run) => run.minAttached)),
    maxAttached: Math.max(...runs.map((run) => run.maxAttached)),
    connected: runs.every((run) => run.connected),
    ...summarizeWatches(runs.map((run) => run.watched)),
    duplicatesPerMessage: average((run) => run.duplicatesPerMessage),
    convergedAfterS: slowest,
    formationS: Math.max(...runs.map((run) => run.formationS)),
    edgeChangesPerNode: average((run) => run.edgeChangesPerNode),
    missing: runs.reduce((sum, run) => sum + run.expected - run.delaysMs.length, 0),
    minMeanMs: round(Math.min(...means)),
    maxMeanMs: round(Math.max(...means)),
    percentilesMs: hundredths(delaysMs),
    traceHashes: runs.map(({ traceHash }) => traceHash),
  }
}

function summarizePaths(runs: readonly PropagationRun[]) {
  let [maxHops, deliveries] = [0, 0]
  const longMs: number[] = []
  for (const { hops, delaysMs } of runs)
    for (const [at, count] of hops.entries()) {
      deliveries++
      maxHops = Math.max(maxHops, count)
      if (count >= published.longPaths.fromHops) longMs.push(delaysMs[at] ?? 0)
    }
  const meanMs = mean(longMs)
  return {
    maxHops,
    longPathMeanMs: meanMs === undefined ? null : round(meanMs),
    longPathPercent: round((100 * longMs.length) / Math.max(1, deliveries)),
  }
}

function summarizePredictions(runs: readonly PropagationRun[]) {
  const predictions = runs.flatMap(({ predicted, trueMeanMs }) =>
    predicted === undefined ? [] : [{ meanMs: predicted.meanMs, error: predicted.meanMs / trueMeanMs - 1 }],
  )
  const [meanMs, error] = [
    mean(predictions.map((prediction) => prediction.meanMs)),
    mean(predictions.map((prediction) => Math.abs(prediction.error))),
  ]
  return {
    predictedMeanMs: meanMs === undefined ? null : round(meanMs),
    predictionMapePercent: error === undefined ? null : round(100 * error),
  }
}

function summarizeWatches(watches: readonly FormationWatch[]) {
  const sum = (pick: (watch: FormationWatch) => number): number =>
    watches.reduce((total, watch) => total + pick(watch), 0)
  return {
    connectedThroughout: watches.every((watch) => watch.connectedThroughout && watch.wrongLooks === 0),
    disconnectedMs: round(sum((watch) => watch.disconnectedMs)),
    minAttachedThroughout: Math.min(...watches.map((watch) => watch.minAttachedThroughout)),
    maxAttachedThroughout: Math.max(...watches.map((watch) => watch.maxAttachedThroughout)),
    looks: sum((watch) => watch.looks),
    wrongLooks: sum((watch) => watch.wrongLooks),
  }
}
