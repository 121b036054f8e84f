import { simError } from '../errors.ts'
import { buildOverlay } from '../graphs/build-overlay.ts'
import { upperTail } from '../measures/normal.ts'
import { round } from '../measures/statistics.ts'
import { textTable } from '../report/text-table.ts'
import { matrixFigures } from './matrix-figures.ts'
import type { MatrixMeasures, MatrixReport } from './matrix-report.ts'
import type { Experiment } from './experiment.ts'

/** As in the thesis, section 5.1.1. */
const published = {
  nodes: 1000,
  degree: 4,
  repeats: 1000,
  meanEdgeProbability: 0.004004,
  firstJoinersRatio: 3,
}
/** Of a table of all pairs, four bytes each. */
const maxNodes = 10_000
/** Nodes that join first, whose edges among each other are looked at alone. */
const firstJoiners = 10

/** How often each pair of nodes is connected in many graphs, by the tracker's algorithm. */
export const matrix: Experiment = {
  name: 'matrix',
  describe: 'how often is each pair of nodes connected? section 5.1.1 of the thesis',
  ignores: ['overlay', 'latency'],
  usualNodes: String(published.nodes),
  async run(
    { nodes = published.nodes, degree = published.degree, repeats = published.repeats, seed },
    onProgress,
  ) {
    if (nodes <= degree + 1 || nodes > maxNodes)
      throw simError('INVALID_ARGUMENT', `--nodes is from ${degree + 2} to ${maxNodes} here`)
    const counts = new Uint32Array(nodes * nodes)
    for (let graph = 0; graph < repeats; graph++) {
      const neighbours = buildOverlay(nodes, degree, `${seed}/${graph}`)
      neighbours.forEach((other, place) => {
        if (other >= 0) {
          const at = Math.floor(place / degree) * nodes + other
          counts[at] = (counts[at] ?? 0) + 1
        }
      })
      onProgress(`${graph + 1} of ${repeats} graphs`)
    }
    const measures = measureCounts({ counts, nodes, degree, repeats })
    const report = { experiment: 'matrix', seed, nodes, degree, repeats, ...measures, published }
    return { report, text: describe(report), figures: matrixFigures(counts, report) }
  },
}

/** Exported for tests. `counts[a · nodes + b]` of the graphs have an edge from a to b. */
export function measureCounts(matrix: {
  readonly counts: Uint32Array
  readonly nodes: number
  readonly degree: number
  readonly repeats: number
}): MatrixMeasures {
  const { counts, nodes, degree, repeats } = matrix
  const probability = Math.min(1, degree / (nodes - 1))
  const expected = probability * repeats
  const varianceOfCount = expected * (1 - probability)
  const pairs = (nodes * (nodes - 1)) / 2
  const distribution: number[] = []
  let [sum, squares, firstSum] = [0, 0, 0]
  for (let a = 0; a < nodes; a++) {
    for (let b = a + 1; b < nodes; b++) {
      const count = counts[a * nodes + b] ?? 0
      sum += count
      squares += (count - expected) ** 2
      if (b < firstJoiners) firstSum += count
      while (distribution.length <= count) distribution.push(0)
      distribution[count] = (distribution[count] ?? 0) + 1
    }
  }
  // Every node has its degree in every graph: so many sums are given.
  const degreesOfFreedom = pairs - nodes
  const chiSquare = ((squares / varianceOfCount) * degreesOfFreedom) / pairs
  // A squared deviation of a count that is nearly Poisson has this variance; 2 alone would be that of a normal one.
  const deviation = Math.sqrt(degreesOfFreedom * (2 + 1 / expected))
  const firsts = Math.min(nodes, firstJoiners)
  const firstPairs = (firsts * (firsts - 1)) / 2
  return {
    meanEdgeProbability: sum / pairs / repeats,
    exactEdgeProbability: probability,
    distribution,
    chiSquare: round(chiSquare),
    degreesOfFreedom,
    pValue: upperTail((chiSquare - degreesOfFreedom) / deviation),
    firstJoinersRatio: round(firstSum / (firstPairs * expected)),
    firstJoinersDeviations: round(
      (firstSum - firstPairs * expected) / Math.sqrt(firstPairs * varianceOfCount),
    ),
  }
}

function describe(report: MatrixReport): string {
  const { nodes, degree, repeats, chiSquare, degreesOfFreedom, pValue } = report
  return [
    `${repeats} graphs of ${nodes} nodes with ${degree} neighbours each`,
    textTable(
      ['', 'published', 'measured'],
      [
        [
          'mean edge probability',
          published.meanEdgeProbability.toFixed(7),
          report.meanEdgeProbability.toFixed(7),
        ],
        ['exact, d / (n - 1)', '0.0040040', report.exactEdgeProbability.toFixed(7)],
        [
          'first nodes, times the mean',
          `up to ${published.firstJoinersRatio}`,
          `${report.firstJoinersRatio} (${report.firstJoinersDeviations} deviations)`,
        ],
      ],
    ),
    `chi-square ${chiSquare}, ${degreesOfFreedom} degrees of freedom: p = ${pValue.toFixed(4)}`,
  ].join('\n')
}
