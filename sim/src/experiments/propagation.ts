import { published, publishedPropagation } from '../published/thesis.ts'
import { textTable } from '../report/text-table.ts'
import { repeatPropagation, type PropagationRow } from '../scenarios/repeated-propagation.ts'
import type { Experiment } from './experiment.ts'
import { propagationFigures } from './propagation-figures.ts'

/** Of the thesis. */
const sizes = [32, 64, 128, 256, 512, 1024, 2048]
const repeatsOfTable = 10

/** Tables 5.2 and 5.3: how long messages take, and how well that can be predicted. */
export const propagation: Experiment = {
  name: 'propagation',
  describe:
    'how long do messages take, and is that predicted? tables 5.2 and 5.3 of the thesis; one size: one run',
  async run(options, onProgress) {
    const { nodes, degree = 4, seed } = options
    const repeats = options.repeats ?? (nodes === undefined ? repeatsOfTable : 1)
    const rows: PropagationRow[] = []
    for (const size of nodes === undefined ? sizes : [nodes])
      rows.push(await repeatPropagation({ ...options, nodes: size, degree, repeats }, onProgress))
    const withPublished = rows.map((row) => ({ ...row, published: publishedOf(row) }))
    const [first] = withPublished
    const about = { experiment: 'propagation', seed }
    const report = nodes === undefined ? { ...about, rows: withPublished } : { ...about, ...first }
    return { report, text: describe(rows), figures: propagationFigures(rows) }
  },
}

/** What the thesis has for this size; null where it has nothing. */
function publishedOf({ nodes }: PropagationRow) {
  const row = publishedPropagation(nodes)
  if (row === undefined) return null
  const { meanMs, minMs, maxMs, estimatedMs } = row
  const rdp = nodes === 2048 ? published.rdpAt2048 : meanMs / published.meanUnderlayOneWayMs
  const p99Ms = nodes === 2048 ? published.p99MsAt2048 : null
  return { meanMs, minMs, maxMs, estimatedMeanMs: estimatedMs, rdp: Number(rdp.toFixed(2)), p99Ms }
}

function describe(rows: readonly PropagationRow[]): string {
  const head = ['nodes', 'mean ms', 'thesis', 'estimate ms', 'thesis', 'MAPE %', 'p99 ms', 'thesis']
  const cells = rows.map((row) => {
    const thesis = publishedOf(row)
    return [
      row.nodes,
      row.meanMs,
      thesis?.meanMs,
      row.estimatedMeanMs,
      thesis?.estimatedMeanMs,
      row.mapePercent,
      row.p99Ms,
      thesis?.p99Ms ?? undefined,
      row.rdp,
      thesis?.rdp,
      row.meanHops,
      `${row.minDegree}-${row.maxDegree}${row.connected ? '' : ', in pieces'}`,
      row.duplicatesPerMessage,
      row.missing,
      row.convergedAfterS ?? undefined,
      row.edgeChangesPerNode,
    ]
  })
  return textTable(
    [...head, 'RDP', 'thesis', 'hops', 'degree', 'duplicates', 'missing', 'converged s', 'edge changes'],
    cells,
  )
}
