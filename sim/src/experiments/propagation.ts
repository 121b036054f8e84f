import { publishedPropagation } from '../published/thesis.ts'
import { textTable } from '../report/text-table.ts'
import { repeatPropagation, type PropagationRow } from '../scenarios/repeated-propagation.ts'
import type { Experiment, Overlay } from './experiment.ts'
import { propagationFigures } from './propagation-figures.ts'

/** Of the thesis. */
const sizes = [32, 64, 128, 256, 512, 1024, 2048]
const repeatsOfTable = 10
/**
 * Small overlays differ more from one another: so many nodes are simulated of each size, and the mean of the repeats is
 * known to less than 1 % at every size.
 */
const nodesOfRandomTable = 20_480

function repeatsOf(nodes: number, overlay: Overlay): number {
  if (overlay !== 'random') return 1
  return Math.max(repeatsOfTable, Math.ceil(nodesOfRandomTable / nodes))
}

/** Tables 5.2 and 5.3: how long messages take, and how well that can be predicted. */
export const propagation: Experiment = {
  name: 'propagation',
  describe:
    'how long do messages take, and is that predicted? tables 5.2 and 5.3 of the thesis. Without --nodes: 7 sizes, random overlays 10 times (small ones more often, 20480 / nodes), topology-aware ones once; with it: one run',
  async run(options, onProgress) {
    const { nodes, degree = 4, seed, overlay } = options
    const rows: PropagationRow[] = []
    for (const size of nodes === undefined ? sizes : [nodes]) {
      const repeats = options.repeats ?? (nodes === undefined ? repeatsOf(size, overlay) : 1)
      rows.push(await repeatPropagation({ ...options, nodes: size, degree, repeats }, onProgress))
    }
    const withPublished = rows.map((row) => ({ ...row, published: publishedPropagation(row.nodes) ?? null }))
    const [first] = withPublished
    const about = { experiment: 'propagation', seed }
    const report = nodes === undefined ? { ...about, rows: withPublished } : { ...about, ...first }
    return { report, text: describe(rows), figures: propagationFigures(rows) }
  },
}

function describe(rows: readonly PropagationRow[]): string {
  const head = [
    'nodes',
    'mean ms',
    'thesis',
    'estimate ms',
    'thesis',
    'MAPE %',
    'tracker %',
    'p99 ms',
    'thesis',
  ]
  const cells = rows.map((row) => {
    const thesis = publishedPropagation(row.nodes)
    return [
      row.nodes,
      row.meanMs,
      thesis?.meanMs,
      row.estimatedErrorMs === null
        ? row.estimatedMeanMs
        : `${row.estimatedMeanMs} ± ${row.estimatedErrorMs}`,
      thesis?.estimatedMeanMs,
      row.mapePercent,
      row.predictionMapePercent ?? undefined,
      row.p99Ms,
      thesis?.p99Ms ?? undefined,
      row.rdp,
      thesis?.rdp,
      row.meanHops,
      `${row.minDegree}-${row.maxDegree}`,
      row.connectedThroughout ? 'always' : row.connected ? 'at the end' : 'no',
      row.duplicatesPerMessage,
      row.missing,
      row.convergedAfterS ?? undefined,
      row.edgeChangesPerNode,
    ]
  })
  return textTable(
    [
      ...head,
      'RDP',
      'thesis',
      'hops',
      'degree',
      'connected',
      'duplicates',
      'missing',
      'converged s',
      'edge changes',
    ],
    cells,
  )
}
