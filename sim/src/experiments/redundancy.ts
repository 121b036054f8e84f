import { lineFigure } from '../figures/line-figure.ts'
import { textTable } from '../report/text-table.ts'
import { repeatPropagation, type PropagationRow } from '../scenarios/repeated-propagation.ts'
import type { Experiment } from './experiment.ts'

/** As in the thesis, section 5.3.1. */
const nodesOfThesis = 64
const degrees = [4, 6, 8, 10, 12, 14, 16]

/** Figure 5.4: copies that come too many. The thesis prints no numbers, but that they are slightly below d − 2. */
export const redundancy: Experiment = {
  name: 'redundancy',
  describe: 'duplicates per message against the degree: figure 5.4 of the thesis',
  usualNodes: String(nodesOfThesis),
  async run(options, onProgress) {
    const { nodes = nodesOfThesis, degree, repeats = 1, seed, overlay, latency } = options
    const rows = []
    for (const d of degree === undefined ? degrees : [degree]) {
      const say = (text: string): void => onProgress(`degree ${d}: ${text}`)
      const row = await repeatPropagation({ ...options, nodes, degree: d, repeats }, say)
      rows.push({ degree: d, duplicatesPerMessage: row.duplicatesPerMessage, expected: d - 2, ...costs(row) })
    }
    const report = { experiment: 'redundancy', seed, nodes, overlay, latency, repeats, rows }
    const cells = rows.map((row) => [row.degree, row.expected, row.duplicatesPerMessage, row.meanMs])
    const figure = lineFigure({
      name: 'figure-5.4-redundancy',
      title: `Duplicates per message, ${nodes} nodes`,
      xTitle: 'degree',
      yTitle: 'duplicates',
      points: rows.flatMap(({ degree: x, duplicatesPerMessage, expected }) => [
        { x, y: duplicatesPerMessage, series: 'measured' },
        { x, y: expected, series: 'd - 2' },
      ]),
    })
    const text = textTable(['degree', 'd - 2 (thesis: slightly less)', 'duplicates', 'mean ms'], cells)
    return { report, text, figures: [figure] }
  },
}

function costs({ meanMs, p99Ms, minDegree, maxDegree, connected, missing, traceHashes }: PropagationRow) {
  return { meanMs, p99Ms, minDegree, maxDegree, connected, missing, traceHashes }
}
