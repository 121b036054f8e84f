import { meanDelayMs } from '@runnel/sim/shortest-delays'
import { WeightedGraph } from '@runnel/sim/weighted-graph'
import { hundredths, mean, round } from '@runnel/sim/statistics'
import type { RecordRow } from '@runnel/sim/records'
import { analyse, worstClockErrorMs } from '../session/analysis.ts'
import { sameEdges, type FormedOverlay } from '../session/formed-overlay.ts'
import { clocksMs, type PairPings, type SessionMeasurements } from '../session/session.ts'
import type { Experiment, Running } from './experiment.ts'
import { fleetMs } from './longest.ts'
import { inPairsMs, publishInPairs, quietMs, warmUp, warmUpMs } from './publish-in-turns.ts'
import { simulatedMeanMs } from './simulated-mean.ts'

/** Messages and their rate are as in the thesis. */
const defaults = {
  nodes: 16,
  degree: 4,
  links: 'webrtc',
  repeats: 1,
  messages: 2,
  warmUp: 10,
  rate: 13.6,
  dilation: 1,
} as const

/** Delay and RDP by nodes, and what the simulator has for the same overlays: thesis, sections 5.4.3 to 5.4.5. */
export const propagation: Experiment = {
  name: 'propagation',
  describe: 'how long do messages take, against the underlay and against the simulator on the same overlay?',
  takes: ['repeats', 'warmUp', 'rate', 'dilation'],
  columns: [
    ...['nodes', 'links', 'overlay', 'latency', 'meanMs', 'p99Ms', 'simulatedMeanMs', 'simulatedOffPercent'],
    ...[
      'estimatedMeanMs',
      'mapePercent',
      'rdp',
      'simulatedRdp',
      'meanHops',
      'duplicatesPerMessage',
      'missing',
      'overlayKept',
    ],
  ],
  longestMs(options) {
    const { nodes = defaults.nodes, repeats = defaults.repeats, dilation = defaults.dilation } = options
    const { messages = defaults.messages, rate = defaults.rate } = options
    const warmingMs = warmUpMs(nodes, options.warmUp ?? defaults.warmUp)
    const messagesMs = repeats * (warmingMs + clocksMs + inPairsMs(nodes, { messages, rate }) + quietMs)
    return fleetMs({ nodes, dilation, overlays: repeats, runs: repeats, messagesMs })
  },
  async run(options, { onFleet, onProgress }) {
    const { nodes = defaults.nodes, degree = defaults.degree, links = defaults.links } = options
    const { repeats = defaults.repeats, overlay, dilation = defaults.dilation } = options
    const { messages = defaults.messages, rate = defaults.rate } = options
    return onFleet({ nodes, degree, links, overlay, dilation }, async (running) => {
      const rows: RecordRow[] = []
      for (let repeat = 0; repeat < repeats; repeat++) {
        onProgress(`run ${repeat + 1} of ${repeats}: the overlay forms`)
        const formed = await running.session.join()
        onProgress(`run ${repeat + 1} of ${repeats}: messages`)
        const pings = await running.session.pingEdges(formed, pingsPerEdge)
        const publishedBefore = await warmUp(running.session, options.warmUp ?? defaults.warmUp)
        const sinceMs = await running.session.pauseForClocks()
        const published = await publishInPairs(running.session, { messages, rate })
        await running.session.delivered(publishedBefore + published, quietMs)
        const measured = await running.session.collect()
        const isSame = sameEdges(formed, await running.session.overlay())
        await running.session.reset()
        onProgress(`run ${repeat + 1} of ${repeats}: the same overlay in the simulator`)
        const run = { measured, pings, published, publishedBefore, sinceMs }
        const figures = await compare(running, formed, run)
        rows.push({
          nodes,
          degree,
          links,
          overlay,
          latency: running.latency,
          repeat,
          dilation,
          overlayKept: isSame,
          ...figures,
        })
      }
      return rows
    })
  },
}

const pingsPerEdge = 3

interface MeasuredRun {
  readonly measured: SessionMeasurements
  /** Along the edges of the overlay. */
  readonly pings: readonly PairPings[]
  /** By all nodes, since `sinceMs` and before. */
  readonly published: number
  readonly publishedBefore: number
  readonly sinceMs: number
}

async function compare(running: Running, overlay: FormedOverlay, run: MeasuredRun) {
  const { measured, pings } = run
  const { delaysMs, ...figures } = analyse(measured, run)
  const nodes = overlay.degrees.length
  const underlayMs = underlayMean(running, nodes)
  const simulatedMs = await simulatedMeanMs(running, overlay)
  const estimatedMs = estimate(running.session.everybody, pings)
  const meanMs = mean(delaysMs) ?? 0
  const against = (otherMs: number | undefined) =>
    otherMs === undefined || otherMs === 0 ? null : round(100 * (meanMs / otherMs - 1))
  const rdp = (ms: number | undefined) =>
    ms === undefined || underlayMs === undefined || underlayMs === 0 ? null : round(ms / underlayMs)
  const offPercent = against(estimatedMs)
  return {
    ...figures,
    underlayMeanMs: underlayMs === undefined ? null : round(underlayMs),
    rdp: rdp(meanMs),
    estimatedMeanMs: estimatedMs === undefined ? null : round(estimatedMs),
    mapePercent: offPercent === null ? null : Math.abs(offPercent),
    simulatedMeanMs: simulatedMs === undefined ? null : round(simulatedMs),
    simulatedOffPercent: against(simulatedMs),
    simulatedRdp: rdp(simulatedMs),
    clockErrorMs: worstClockErrorMs(measured),
    minDegree: Math.min(...overlay.degrees),
    maxDegree: Math.max(...overlay.degrees),
    percentilesMs: hundredths(delaysMs.toSorted((a, b) => a - b)),
  }
}

/** By shortest ways over the quickest pings of the edges; undefined where one had no answer. */
function estimate(everybody: readonly number[], pings: readonly PairPings[]): number | undefined {
  const graph = new WeightedGraph(everybody.length)
  for (const { from, to, rttsMs } of pings) {
    if (rttsMs.length === 0) return undefined
    graph.connect(from, to, Math.min(...rttsMs) / 2)
  }
  return meanDelayMs(graph, everybody)
}

function underlayMean({ oneWayMs }: Running, nodes: number): number | undefined {
  const delays: number[] = []
  for (let from = 0; from < nodes; from++)
    for (let to = 0; to < nodes; to++) {
      const delayMs = from === to ? 0 : oneWayMs(from, to)
      if (delayMs === undefined) return undefined
      if (from !== to) delays.push(delayMs)
    }
  return mean(delays)
}
