import type { Figure } from '../figures/write-figures.ts'
import type { MatrixReport } from './matrix-report.ts'

/** Blocks of the matrix in a row: single pairs would be too small to see. */
const blocks = 50

/** Figure 5.1, and how often pairs were connected. */
export function matrixFigures(counts: Uint32Array, report: MatrixReport): Figure[] {
  const { nodes, repeats, exactEdgeProbability, distribution } = report
  const measured = distribution.map((pairs, count) => ({ count, pairs, series: 'measured' }))
  const allPairs = (nodes * (nodes - 1)) / 2
  const expected = distribution.map((_, count) => ({
    count,
    pairs: allPairs * binomial(repeats, exactEdgeProbability, count),
    series: 'binomial',
  }))
  return [
    {
      name: 'figure-5.1-matrix',
      spec: {
        title: `How often each pair of ${nodes} nodes is connected, ${repeats} graphs`,
        width: 400,
        height: 400,
        data: { values: blockMeans(counts, nodes) },
        mark: 'rect',
        encoding: {
          x: { field: 'a', type: 'ordinal', title: 'node, in the order of joining', axis: { labels: false } },
          y: { field: 'b', type: 'ordinal', title: 'node', axis: { labels: false } },
          color: { field: 'mean', type: 'quantitative', title: 'graphs', scale: { scheme: 'greys' } },
        },
      },
    },
    {
      name: 'figure-5.1-distribution',
      spec: {
        title: 'Pairs by the number of graphs in which they are connected',
        width: 480,
        height: 300,
        data: { values: [...measured, ...expected] },
        mark: 'bar',
        encoding: {
          x: { field: 'count', type: 'ordinal', title: 'graphs with the edge' },
          xOffset: { field: 'series' },
          y: { field: 'pairs', type: 'quantitative', title: 'pairs' },
          color: { field: 'series', type: 'nominal', title: null },
        },
      },
    },
  ]
}

function blockMeans(counts: Uint32Array, nodes: number): { a: number; b: number; mean: number }[] {
  const count = Math.min(blocks, nodes)
  const sums = new Float64Array(count * count)
  const pairs = new Float64Array(count * count)
  const blockOf = (node: number): number => Math.floor((node * count) / nodes)
  for (let a = 0; a < nodes; a++) {
    for (let b = 0; b < nodes; b++) {
      if (a === b) continue
      const at = blockOf(a) * count + blockOf(b)
      sums[at] = (sums[at] ?? 0) + (counts[a * nodes + b] ?? 0)
      pairs[at] = (pairs[at] ?? 0) + 1
    }
  }
  return Array.from(sums, (sum, at) => ({
    a: Math.floor(at / count),
    b: at % count,
    mean: sum / Math.max(1, pairs[at] ?? 0),
  }))
}

function binomial(trials: number, probability: number, successes: number): number {
  let logOfIt = trials * Math.log1p(-probability)
  for (let i = 1; i <= successes; i++)
    logOfIt += Math.log(((trials - i + 1) / i) * (probability / (1 - probability)))
  return Math.exp(logOfIt)
}
