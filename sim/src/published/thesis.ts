import { parseRecord, type ExperimentRecord } from '../records/record.ts'
import thesis from './thesis.json' with { type: 'json' }

/** The figures of the thesis that ours stand beside. */
export const published = thesis

/** Its WebRTC measurements with so many nodes, in real networks; WebRTC's overlays were the random ones. */
export function publishedPropagation(nodes: number) {
  const row = thesis.propagation.find((some) => some.nodes === nodes)
  if (row === undefined) return undefined
  const { meanMs, minMs, maxMs, estimatedMs } = row
  const rdp = nodes === 2048 ? thesis.rdpAt2048 : meanMs / thesis.meanUnderlayOneWayMs
  const p99Ms = nodes === 2048 ? thesis.p99MsAt2048 : null
  return { meanMs, minMs, maxMs, estimatedMeanMs: estimatedMs, rdp: Number(rdp.toFixed(2)), p99Ms }
}

/** Its WebSocket measurements: overlays in which nodes kept near neighbours against the tracker's instructions (its section 4.3). */
export function publishedWebSocket(nodes: number) {
  const row = thesis.propagation.find((some) => some.nodes === nodes)?.websocket
  if (row === undefined) return undefined
  const { meanMs, minMs, maxMs, estimatedMs } = row
  return { meanMs, minMs, maxMs, estimatedMeanMs: estimatedMs }
}

/** What the thesis has of an experiment, as a record; undefined where it has no such rows. */
export function publishedRecord(experiment: string): ExperimentRecord | undefined {
  const rows = rowsOf(experiment)
  if (rows === undefined) return undefined
  const head = { format: 'runnel-record', version: 1, experiment, source: 'published' }
  return parseRecord(JSON.stringify({ ...head, parameters: {}, environment: { from: thesis.source }, rows }))
}

function rowsOf(experiment: string): object[] | undefined {
  switch (experiment) {
    case 'propagation':
      return thesis.propagation.map(({ nodes }) => ({
        nodes,
        overlay: 'random',
        latency: 'AWS',
        ...publishedPropagation(nodes),
      }))
    case 'compare':
      return thesis.literature
    default:
      return undefined
  }
}
