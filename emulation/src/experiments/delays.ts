import { mean, round } from '@runnel/sim/statistics'
import type { RecordRow } from '@runnel/sim/records'
import type { PairPings, Session } from '../session/session.ts'
import type { Experiment } from './experiment.ts'

const defaults = { nodes: 16, degree: 4, links: 'websocket', messages: 5 } as const

/** All-pairs round-trip times: table 5.1 of the thesis, and the file that `sim --latency` reads. */
export const delays: Experiment = {
  name: 'delays',
  describe:
    'how long do pings take between all pairs of hosts? table 5.1 of the thesis; also writes latencies.json for sim --latency',
  takes: [],
  columns: ['from', 'to', 'oneWayMs', 'minRttMs', 'maxRttMs', 'pings', 'failed'],
  async run(options, { onFleet, onProgress }) {
    const { nodes = defaults.nodes, degree = defaults.degree, links = defaults.links, overlay } = options
    return onFleet({ nodes, degree, links, overlay }, async ({ session }) => {
      onProgress('pings')
      return rowsOf(session, await session.pingAll(options.messages ?? defaults.messages))
    })
  },
}

/** One row for each ordered pair of sites; a quick ping is a true one, so each pair of hosts counts by its quickest. */
function rowsOf({ nodes }: Session, pings: readonly PairPings[]): RecordRow[] {
  const siteOf = (index: number): string => nodes[index]?.host.site ?? ''
  const sites = Map.groupBy(pings, ({ from, to }) => JSON.stringify([siteOf(from), siteOf(to)]))
  return [...sites].map(([key, pairs]) => {
    const [from = '', to = ''] = JSON.parse(key) as string[]
    const quickest = pairs.flatMap(({ rttsMs }) => (rttsMs.length === 0 ? [] : [Math.min(...rttsMs)]))
    return {
      from,
      to,
      oneWayMs: quickest.length === 0 ? null : round((mean(quickest) ?? 0) / 2),
      minRttMs: quickest.length === 0 ? null : round(Math.min(...quickest)),
      maxRttMs: quickest.length === 0 ? null : round(Math.max(...pairs.flatMap(({ rttsMs }) => rttsMs))),
      pings: pairs.reduce((sum, { rttsMs }) => sum + rttsMs.length, 0),
      failed: pairs.reduce((sum, { failed }) => sum + failed, 0),
    }
  })
}

/**
 * The file that `sim --latency` reads: docs/records.md. A site with one host has no pair to ping within itself, so its delay to
 * itself is assumed to be short. If a pair never answered there is no file, and undefined is returned.
 */
export function latencyFileOf(rows: readonly RecordRow[], source: string): object | undefined {
  const regions = [...new Set(rows.flatMap(({ from, to }) => [String(from), String(to)]))]
  const withinSiteMs = 0.1
  const found = new Map(rows.map(({ from, to, oneWayMs }) => [`${String(from)} ${String(to)}`, oneWayMs]))
  const oneWayMs = regions.map((from) =>
    regions.map((to) => found.get(`${from} ${to}`) ?? (from === to ? withinSiteMs : null)),
  )
  return oneWayMs.flat().includes(null) ? undefined : { source, regions, oneWayMs }
}
