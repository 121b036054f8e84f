import { createLatencyModel } from '../latency/latency-model.ts'
import { round } from '../measures/statistics.ts'
import { published } from '../published/thesis.ts'
import { textTable } from '../report/text-table.ts'
import { placesFor, runChurn } from '../scenarios/churn/churn-run.ts'
import { repeatPropagation, type PropagationRow } from '../scenarios/repeated-propagation.ts'
import { overlays, type Experiment, type ExperimentOptions, type Overlay } from './experiment.ts'

/** Most of table 5.4 is about a thousand nodes. */
const nodesOfTable = 1000
const underlays = ['aws', 'transit-stub']
/** Departures are measured in an overlay of at most so many, of which this share (in percent) leaves in a minute. */
const churn = { maxNodes: 256, rate: 20, latency: 'aws' } as const

/** What one departure (and the join that makes up for it) costs the others. */
interface DepartureCost {
  readonly overlay: Overlay
  /** Messages that those who stayed did not get without asking again. */
  readonly lost: number
  /** Neighbours attached. */
  readonly edges: number
  /** Packets of nodes and the tracker, without data and pings. */
  readonly control: number
}

/** Table 5.4 with rows of our own: all overlays, and both underlays. */
export const compare: Experiment = {
  name: 'compare',
  describe:
    'the overlays beside each other and beside those in the literature (table 5.4 of the thesis): relative delay penalty, messages sent, what a departure costs',
  ignores: ['overlay', 'latency'],
  usualNodes: String(nodesOfTable),
  async run(options, onProgress) {
    const { nodes = nodesOfTable, degree = 4, repeats = 1, seed } = options
    const rows = []
    for (const latency of underlays) {
      for (const overlay of overlays) {
        const say = (text: string): void => onProgress(`${overlay} on ${latency}: ${text}`)
        const row = await repeatPropagation({ ...options, overlay, latency, nodes, degree, repeats }, say)
        rows.push(rowOf(row))
      }
    }
    const departures: DepartureCost[] = []
    for (const overlay of overlays)
      departures.push(await departureCost(overlay, { ...options, nodes, degree }, onProgress))
    const report = { experiment: 'compare', seed, repeats, rows, departures, published: published.literature }
    return { report, text: [textOf(rows), textOfDepartures(departures)].join('\n\n'), figures: [] }
  },
}

function rowOf(row: PropagationRow) {
  const { overlay, latency, nodes, degree, rdp, rdpOfFirst, meanMs, p99Ms, connected, missing } = row
  const sentPerDelivery = round(1 + row.duplicatesPerMessage)
  const figures = { rdp, rdpOfFirst, meanMs, p99Ms, sentPerDelivery, connected, missing }
  return { overlay, underlay: latency, nodes, degree, ...figures }
}

async function departureCost(
  overlay: Overlay,
  options: ExperimentOptions & { readonly nodes: number; readonly degree: number },
  onProgress: (text: string) => void,
): Promise<DepartureCost> {
  const { seed, degree } = options
  const { maxNodes, rate, latency } = churn
  const nodes = Math.min(options.nodes, maxNodes)
  const model = createLatencyModel({ latency, nodes: placesFor(nodes, rate), seed })
  const say = (text: string): void => onProgress(`${overlay}, departures: ${text}`)
  const churned = await runChurn({ seed, nodes, degree, overlay, model, rate }, say)
  const perDeparture = (perNodeMinute: number): number => round((perNodeMinute * nodes) / churned.leaves)
  return {
    overlay,
    lost: round((churned.expected - churned.delivered) / churned.leaves),
    edges: perDeparture(churned.edgeChangesPerNodeMinute),
    control: perDeparture(churned.controlPerNodeMinute),
  }
}

function textOf(rows: readonly ReturnType<typeof rowOf>[]): string {
  const ours = rows.map((row) => [
    `Runnel, ${row.overlay}`,
    `degree ${row.degree}`,
    row.underlay,
    row.rdp.toFixed(2),
    undefined,
    row.nodes,
    row.rdpOfFirst.toFixed(2),
    row.meanMs,
    row.p99Ms,
    row.sentPerDelivery,
  ])
  const literature = published.literature.map((row) => Object.values(row))
  const head = ['overlay', 'type', 'underlay', 'RDP at 1000', 'range', 'nodes']
  return textTable(
    [...head, 'RDP, first node', 'mean ms', 'p99 ms', 'sent per delivery'],
    [...ours, ...literature],
  )
}

function textOfDepartures(departures: readonly DepartureCost[]): string {
  return textTable(
    ['a departure and a join', 'messages lost', 'edges made', 'control packets'],
    departures.map(({ overlay, lost, edges, control }) => [overlay, lost, edges, control]),
  )
}
