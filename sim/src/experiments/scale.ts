import { seededRandom } from '@runnel/protocol'
import { lineFigure } from '../figures/line-figure.ts'
import { createLatencyModel } from '../latency/latency-model.ts'
import { round } from '../measures/statistics.ts'
import { textTable } from '../report/text-table.ts'
import { convergedAfterS } from '../scenarios/scale/convergence.ts'
import { hopsOf } from '../scenarios/scale/overlay-shape.ts'
import { ModelledNodes } from '../scenarios/scale/modelled-nodes.ts'
import { ProductionNodes } from '../scenarios/scale/production-nodes.ts'
import { runScale } from '../scenarios/scale/run-scale.ts'
import type { GrowingOverlay, ScaleOptions } from '../scenarios/scale/scale-run.ts'
import { aDay, type Experiment, type ExperimentOptions, type Overlay } from './experiment.ts'

/**
 * Virtual seconds after the last join: a random overlay does nothing any more once it is complete, and a large topology-aware one exchanges
 * edges for up to fifteen minutes.
 */
function watchedSOf(overlay: Overlay, nodes: number): number {
  if (overlay === 'topology-aware') return nodes > 16_384 ? 900 : 300
  return overlay === 'tree' ? 60 : 20
}

/** Production nodes: what an overlay is like and costs at different sizes. */
export const scale = experimentWith({
  name: 'scale',
  describe:
    'one overlay of more and more production nodes: RDP, diameter, memory and processor time per node',
  sizes: [256, 1_024, 4_096, 16_384],
  create: (options) => ProductionNodes.create(options),
})

/** The same with nothing of a node but its place. */
export const scaleModel = experimentWith({
  name: 'scale-model',
  describe:
    "the same with the delay model alone and the tracker's core: larger, and what a join costs the tracker",
  sizes: [256, 1_024, 4_096, 16_384, 65_536, 250_000],
  create: (options) => new ModelledNodes(options),
})

function experimentWith(which: {
  readonly name: string
  readonly describe: string
  readonly sizes: readonly number[]
  create(options: ScaleOptions): GrowingOverlay | Promise<GrowingOverlay>
}): Experiment {
  const { name, describe, sizes } = which
  return {
    name,
    describe,
    ignores: ['repeats'],
    takesReplaced: true,
    usualNodes: sizes.join(', '),
    minutes: (nodes) => (nodes === undefined ? aDay : Math.min(aDay, 10 + Math.ceil(nodes / 100))),
    async run(options, onProgress) {
      const rows: ScaleRow[] = []
      for (const nodes of options.nodes === undefined ? sizes : [options.nodes])
        rows.push(await measure(which.create, { ...options, nodes }, onProgress))
      const { seed } = options
      return { report: { experiment: name, seed, rows }, text: table(rows), figures: [figure(name, rows)] }
    },
  }
}

interface ScaleRow {
  readonly nodes: number
  readonly overlay: Overlay
  readonly latency: string
  readonly degree: number
  readonly rdp: number
  /** Virtual seconds after the last join from which the mean delay stayed within 2 % of that at the end, looked at every 10 s. */
  readonly convergedAfterS: number
  readonly watchedS: number
  /** The same two since the last of those who were replaced; null where nobody was. */
  readonly rdpReplaced: number | null
  readonly convergedReplacedS: number | null
  readonly hops: number
  /** Nodes that have all their neighbours. */
  readonly complete: number
  readonly kbPerNode: number
  readonly maxRssMb: number
  readonly statusesPerJoin: number
  readonly instructionsPerJoin: number
  readonly trackerMsPerJoin: number | null
  readonly trackerMsPerNode: number | null
  readonly cpuMsPerNode: number
}

async function measure(
  create: (options: ScaleOptions) => GrowingOverlay | Promise<GrowingOverlay>,
  options: ExperimentOptions & { readonly nodes: number },
  onProgress: (text: string) => void,
): Promise<ScaleRow> {
  const { nodes, degree = 4, overlay, latency, seed } = options
  const model = createLatencyModel({ latency, nodes, seed })
  const replacedShare = (options.replaced ?? 0) / 100
  const watchedS = watchedSOf(overlay, nodes)
  const scaled = {
    ...{ seed, degree, overlay, model, watchedS, replacedShare },
    onPassing: (second: number) => onProgress(`${nodes} nodes: second ${second}`),
  }
  const found = await runScale(await create(scaled), scaled, onProgress)
  const orNull = (value: number | null) => (value === null ? null : round(value))
  return {
    ...{ nodes, overlay, latency, degree, rdp: round(found.rdp), watchedS },
    convergedAfterS: convergedAfterS(found.samples),
    rdpReplaced: orNull(found.afterReplacing?.rdp ?? null),
    convergedReplacedS: found.afterReplacing ? convergedAfterS(found.afterReplacing.samples) : null,
    hops: hopsOf(found.neighbours, degree, seededRandom(`sources of hops of ${seed}`)),
    complete: found.complete,
    kbPerNode: round(found.bytesPerNode / 1_000),
    maxRssMb: Math.round((process.resourceUsage().maxRSS * 1_024) / 1e6),
    statusesPerJoin: round(found.statusesPerJoin),
    instructionsPerJoin: round(found.instructionsPerJoin),
    trackerMsPerJoin: orNull(found.trackerMsPerJoin),
    trackerMsPerNode: orNull(found.trackerMsPerNode),
    cpuMsPerNode: round(found.cpuMsPerNode),
  }
}

function table(rows: readonly ScaleRow[]): string {
  const cells = rows.map((row) => [
    ...[row.nodes, row.overlay, row.latency, row.rdp, row.convergedAfterS],
    ...[row.rdpReplaced ?? undefined, row.convergedReplacedS ?? undefined, row.hops, row.complete],
    ...[row.kbPerNode, row.maxRssMb, row.statusesPerJoin, row.instructionsPerJoin],
    ...[row.trackerMsPerJoin ?? undefined, row.trackerMsPerNode ?? undefined, row.cpuMsPerNode],
  ])
  const what = [
    'nodes',
    'overlay',
    'latency',
    'RDP',
    'converged s',
    'replaced: RDP',
    'converged s',
    'hops',
    'complete',
  ]
  const costs = ['kB/node', 'most RSS MB', 'statuses/join', 'instructions/join']
  return textTable([...what, ...costs, 'tracker ms/join', 'tracker ms/node', 'CPU ms/node'], cells)
}

function figure(name: string, rows: readonly ScaleRow[]) {
  return lineFigure({
    name: `${name}-rdp`,
    title: 'Relative delay penalty against the size of the overlay',
    xTitle: 'nodes',
    xScale: 'log',
    yTitle: 'RDP',
    points: rows.map(({ nodes: x, rdp: y, overlay, latency }) => ({
      x,
      y,
      series: `${overlay}, ${latency}`,
    })),
  })
}
