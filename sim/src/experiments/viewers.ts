import { simError } from '../errors.ts'
import { createLatencyModel, type LatencyModel } from '../latency/latency-model.ts'
import { percentile, round } from '../measures/statistics.ts'
import { textTable } from '../report/text-table.ts'
import { runViewers } from '../scenarios/viewers.ts'
import type { Experiment } from './experiment.ts'

const defaultNodes = 1_001
const seconds = 5
const jitterMs = 3

/** Of the overlay, beside the sender, where viewers are light nodes. */
const hosts = 16

/** One sender and a thousand viewers: how late is what they see? */
export const viewers = experimentWith({
  name: 'viewers',
  describe: 'sound and pictures of one sender to 1,000 viewers: delay, jitter, copies',
  isLight: false,
})

/** The same, where viewers forward nothing. */
export const lightViewers = experimentWith({
  name: 'light-viewers',
  describe: `the same where all but ${hosts} are light nodes, each through two of these`,
  isLight: true,
})

function experimentWith(which: {
  readonly name: string
  readonly describe: string
  readonly isLight: boolean
}): Experiment {
  const { name, describe, isLight } = which
  return {
    name,
    describe,
    ignores: ['repeats'],
    usualNodes: `${defaultNodes} with the sender`,
    minutes: () => 120,
    async run(options, onProgress) {
      const { nodes = defaultNodes, degree = 4, overlay, latency, seed } = options
      const light = isLight ? nodes - hosts - 1 : 0
      if (isLight && light < 1) throw simError('INVALID_ARGUMENT', `--nodes is ${hosts + 2} at least`)
      const model = createLatencyModel({ latency, nodes, seed })
      const found = await runViewers({ seed, degree, overlay, model, light, seconds, jitterMs }, onProgress)
      const rows = found.kinds.map((row) => ({ ...row, degree, overlay, nodes }))
      const figures = {
        jitterMs: round(found.jitterMs),
        copies: round(found.copies),
        sentOn: round(found.sentOn.mean),
        sentOnMost: round(found.sentOn.most),
        ...directly(model),
      }
      const report = { experiment: name, seed, nodes, degree, overlay, latency, ...figures, rows }
      const head = ['frames', 'arrived', 'of', 'p50 ms', 'p95', 'p99', 'max']
      const cells = rows.map(({ kind, arrived, expected, p50Ms, p95Ms, p99Ms, maxMs }) => [
        kind,
        ...[arrived, expected, ...[p50Ms, p95Ms, p99Ms, maxMs].map(round)],
      ])
      const said = Object.entries(figures).map(([what, value]) => `${what} ${value}`)
      return { report, text: `${textTable(head, cells)}\n${said.join(', ')}`, figures: [] }
    },
  }
}

/** The baseline: what the network alone takes from the sender straight to each viewer. */
function directly({ nodes, oneWayMs }: LatencyModel) {
  const delaysMs = Array.from({ length: nodes - 1 }, (_, i) => oneWayMs(0, i + 1))
  const at = (share: number): number => round(percentile(delaysMs, share) ?? 0)
  return { directP50Ms: at(0.5), directP95Ms: at(0.95) }
}
