import { published } from '../published/thesis.ts'
import { textTable } from '../report/text-table.ts'
import { repeatPropagation } from '../scenarios/repeated-propagation.ts'
import { overlays, type Experiment } from './experiment.ts'

/** Most of table 5.4 is about a thousand nodes. */
const nodesOfTable = 1000
const underlays = ['aws', 'transit-stub']

/** Table 5.4 with rows of our own; `overlay` and `latency` are not looked at, as both of both are run. */
export const compare: Experiment = {
  name: 'compare',
  describe: 'the relative delay penalty beside those in the literature: table 5.4 of the thesis',
  async run(options, onProgress) {
    const { nodes = nodesOfTable, degree = 4, repeats = 1, seed } = options
    const rows = []
    for (const latency of underlays) {
      for (const overlay of overlays) {
        const say = (text: string): void => onProgress(`${overlay} on ${latency}: ${text}`)
        const row = await repeatPropagation({ ...options, overlay, latency, nodes, degree, repeats }, say)
        const { rdp, meanMs, p99Ms, connected, missing } = row
        rows.push({ overlay, underlay: latency, nodes, degree, rdp, meanMs, p99Ms, connected, missing })
      }
    }
    const report = { experiment: 'compare', seed, repeats, rows, published: published.literature }
    const ours = rows.map((row) => [
      `Runnel, ${row.overlay}`,
      `${degree}-regular${row.overlay === 'random' ? ' random graph' : ' (TA)'}`,
      row.underlay,
      row.rdp.toFixed(2),
      undefined,
      nodes,
    ])
    const literature = published.literature.map((row) => Object.values(row))
    const head = ['overlay', 'type', 'underlay', 'RDP at 1000', 'range', 'nodes']
    return { report, text: textTable(head, [...ours, ...literature]), figures: [] }
  },
}
