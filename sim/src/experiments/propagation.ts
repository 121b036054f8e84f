import { published, publishedPropagation, publishedWebSocket } from '../published/thesis.ts'
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
  usualNodes: sizes.join(', '),
  async run(options, onProgress) {
    const { nodes, degree = 4, seed, overlay } = options
    const rows: PropagationRow[] = []
    for (const size of nodes === undefined ? sizes : [nodes]) {
      const repeats = options.repeats ?? (nodes === undefined ? repeatsOf(size, overlay) : 1)
      rows.push(await repeatPropagation({ ...options, nodes: size, degree, repeats }, onProgress))
    }
    const withPublished = rows.map((row) => ({
      ...row,
      published: publishedPropagation(row.nodes) ?? null,
      publishedWebSocket: publishedWebSocket(row.nodes) ?? null,
    }))
    const [first] = withPublished
    const about = { experiment: 'propagation', seed }
    const report = nodes === undefined ? { ...about, rows: withPublished } : { ...about, ...first }
    return { report, text: describe(rows), figures: propagationFigures(rows) }
  },
}

function describe(rows: readonly PropagationRow[]): string {
  return [describeRows(rows), describeBesideThesis(rows), describePaths(rows)].join('\n\n')
}

function describeRows(rows: readonly PropagationRow[]): string {
  const times = ['nodes', 'mean ms', 'estimate ms', 'MAPE %', 'tracker %', 'p99 ms', 'RDP', 'hops', 'degree']
  const cells = rows.map((row) => [
    row.nodes,
    row.meanMs,
    row.estimatedErrorMs === null ? row.estimatedMeanMs : `${row.estimatedMeanMs} ± ${row.estimatedErrorMs}`,
    row.mapePercent,
    row.predictionMapePercent ?? undefined,
    row.p99Ms,
    row.rdp,
    row.meanHops,
    `${row.minDegree}-${row.maxDegree}`,
    row.connectedThroughout ? 'always' : row.connected ? 'at the end' : 'no',
    row.duplicatesPerMessage,
    row.missing,
    row.convergedAfterS ?? undefined,
    row.edgeChangesPerNode,
  ])
  return textTable([...times, 'connected', 'duplicates', 'missing', 'converged s', 'edge changes'], cells)
}

/** Tables 5.2 and 5.3 of the thesis: the means of its runs, the lowest and the highest, and its estimates; WebRTC and WebSocket. */
function describeBesideThesis(rows: readonly PropagationRow[]): string {
  const head = ['nodes', 'mean ms', 'runs', 'estimate ms', 'WebRTC: mean', 'runs', 'estimate', 'p99', 'RDP']
  const cells = rows.map((row) => {
    const [webrtc, websocket] = [publishedPropagation(row.nodes), publishedWebSocket(row.nodes)]
    return [
      ...[row.nodes, row.meanMs, rangeOf(row.minMeanMs, row.maxMeanMs), row.estimatedMeanMs],
      ...[webrtc?.meanMs, rangeOf(webrtc?.minMs, webrtc?.maxMs), webrtc?.estimatedMeanMs],
      ...[webrtc?.p99Ms ?? undefined, webrtc?.rdp],
      ...[websocket?.meanMs, rangeOf(websocket?.minMs, websocket?.maxMs), websocket?.estimatedMeanMs],
    ]
  })
  return textTable([...head, 'WebSocket: mean', 'runs', 'estimate'], cells)
}

/** Section 5.4.3 of the thesis: the longest paths, and what messages take that come by long ones. */
function describePaths(rows: readonly PropagationRow[]): string {
  const { fromHops, meanMs, maxHopsAt2048, websocket } = published.longPaths
  const head = ['nodes', 'mean ms', 'hops', 'most', `${fromHops} hops and more: mean ms`, '% of deliveries']
  const cells = rows.map((row) => [
    ...[row.nodes, row.meanMs, row.meanHops, row.maxHops, row.longPathMeanMs ?? undefined],
    row.longPathPercent,
  ])
  return [
    textTable(head, cells),
    `The thesis, ${fromHops} hops and more: ${meanMs} ms and at most ${maxHopsAt2048} hops (WebRTC), ${websocket.meanMs} ms and ${websocket.maxHopsAt2048} (WebSocket).`,
  ].join('\n')
}

function rangeOf(min: number | undefined, max: number | undefined): string | undefined {
  return min === undefined || max === undefined ? undefined : `${Math.round(min)}-${Math.round(max)}`
}
