import { seededRandom } from '@runnel/protocol'
import { lineFigure } from '../figures/line-figure.ts'
import { buildOverlay } from '../graphs/build-overlay.ts'
import { greatestEccentricity } from '../graphs/diameter.ts'
import { textTable } from '../report/text-table.ts'
import type { Experiment } from './experiment.ts'

const sizes = [100, 1_000, 10_000, 100_000]
const degrees = [4, 6, 8, 10, 12, 14, 16]
/** In larger graphs not every node is a source. */
const maxSources = 10_000
const maxSourcesOfLargest = 1_024

interface DiameterRow {
  readonly nodes: number
  readonly degree: number
  /** Equation 5.2 with ε = 0. */
  readonly lowerBound: number
  readonly upperBound: number
  /** The greatest distance from any of the sources. */
  readonly diameter: number
  /** All nodes: then it is the diameter. Fewer: the diameter is that or more. */
  readonly sources: number
}

/** The bounds of equation 5.2 against graphs by the tracker's algorithm. */
export const diameter: Experiment = {
  name: 'diameter',
  describe: 'hops from one end of the overlay to the other: equation 5.2 of the thesis and measured',
  ignores: ['overlay', 'latency'],
  usualNodes: sizes.join(', '),
  async run({ nodes, degree, seed, repeats = 1 }, onProgress) {
    const rows: DiameterRow[] = []
    for (const d of degree === undefined ? degrees : [degree]) {
      for (const n of nodes === undefined ? sizes : [nodes]) {
        const say = (repeat: number) => onProgress(`${n} nodes, degree ${d}: ${repeat} of ${repeats} graphs`)
        rows.push(measure(n, d, { seed, repeats, onRepeat: say }))
      }
    }
    const report = { experiment: 'diameter', seed, repeats, rows }
    return { report, text: describe(rows), figures: [figure(rows)] }
  },
}

/** Bollobás and de la Vega, "The diameter of random regular graphs" (1982), as equation 5.2 quotes it; ε = 0. */
export function diameterBounds(nodes: number, degree: number): { lower: number; upper: number } {
  const log = (x: number): number => Math.log(x) / Math.log(degree - 1)
  const logNodes = Math.log(nodes)
  return {
    lower: 1 + Math.floor(log(nodes)) + Math.floor(log(((degree - 2) / (6 * degree)) * logNodes)),
    upper: 1 + Math.ceil(log(2 * degree * nodes * logNodes)),
  }
}

interface Repeats {
  readonly seed: string
  readonly repeats: number
  onRepeat(number: number): void
}

function measure(nodes: number, degree: number, { seed, repeats, onRepeat }: Repeats): DiameterRow {
  const { lower, upper } = diameterBounds(nodes, degree)
  const sources = sourcesAmong(nodes, seed)
  let greatest = 0
  for (let repeat = 0; repeat < repeats; repeat++) {
    const neighbours = buildOverlay(nodes, degree, `${seed}/${repeat}/${nodes}/${degree}`)
    greatest = Math.max(greatest, greatestEccentricity(neighbours, degree, sources))
    onRepeat(repeat + 1)
  }
  return {
    nodes,
    degree,
    lowerBound: lower,
    upperBound: upper,
    diameter: greatest,
    sources: sources.length,
  }
}

function sourcesAmong(nodes: number, seed: string): number[] {
  if (nodes <= maxSources) return Array.from({ length: nodes }, (_, node) => node)
  const random = seededRandom(`sources of ${seed}`)
  const sources = new Set<number>()
  while (sources.size < maxSourcesOfLargest) sources.add(Math.floor(random.next() * nodes))
  return [...sources]
}

function describe(rows: readonly DiameterRow[]): string {
  const cells = rows.map((row) => [
    row.nodes,
    row.degree,
    row.lowerBound,
    row.sources === row.nodes ? row.diameter : `>= ${row.diameter}`,
    row.upperBound,
  ])
  return textTable(['nodes', 'degree', 'equation 5.2, from', 'measured', 'equation 5.2, to'], cells)
}

function figure(rows: readonly DiameterRow[]) {
  return lineFigure({
    name: 'figure-5.2-diameter',
    title: 'Network diameter: upper bound of equation 5.2 and measured',
    xTitle: 'nodes',
    yTitle: 'hops',
    xScale: 'log',
    points: rows.flatMap(({ nodes, degree, upperBound, diameter: measured }) => [
      { x: nodes, y: upperBound, series: `d = ${degree}`, style: 'upper bound' },
      { x: nodes, y: measured, series: `d = ${degree}`, style: 'measured' },
    ]),
  })
}
