import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client'
import { counterHelp, gaugeHelp } from '@runnel/network'
import type { NodeSnapshot } from '../../snapshot.ts'
import { notReadyReasons } from '../../readiness.ts'
import type { PluginMetric } from '../plugin.ts'

/** What a Prometheus server reads. */
export interface Metrics {
  readonly contentType: string
  text(): Promise<string>
}

/** Metrics of a node and, by name, of its plugins, computed on each request. */
export function createMetrics(
  snapshot: () => NodeSnapshot,
  ofPlugins: () => ReadonlyMap<string, readonly PluginMetric[]>,
): Metrics {
  const processRegistry = new Registry()
  collectDefaultMetrics({ register: processRegistry })
  const text = async () => {
    const nodeRegistry = new Registry()
    fill(nodeRegistry, snapshot())
    for (const [name, metrics] of ofPlugins()) fillPlugin(nodeRegistry, name, metrics)
    return Registry.merge([processRegistry, nodeRegistry]).metrics()
  }
  return { contentType: processRegistry.contentType, text }
}

/** The name a counter of the network node is served under. */
export function counterMetric(name: string): string {
  return `runnel_${snakeCase(name)}_total`
}

/** The name a gauge of the network node is served under. */
export function gaugeMetric(name: string): string {
  return `runnel_${snakeCase(name)}`
}

function fill(registry: Registry, snapshot: NodeSnapshot): void {
  const registers = [registry]
  for (const [name, help] of Object.entries(counterHelp)) {
    new Counter({ name: counterMetric(name), help, registers }).inc(snapshot.counters[name] ?? 0)
  }
  for (const [name, help] of Object.entries(gaugeHelp)) {
    new Gauge({ name: gaugeMetric(name), help, registers }).set(snapshot.counters[name] ?? 0)
  }
  const backend = { name: 'runnel_crypto_backend_info', help: 'Which cryptography is at work.' }
  new Gauge({ ...backend, labelNames: ['backend'], registers }).set({ backend: snapshot.cryptoBackend }, 1)
  const ready = { name: 'runnel_ready', help: '1 while the node can do its work, as /ready says.', registers }
  new Gauge(ready).set(notReadyReasons(snapshot).length === 0 ? 1 : 0)
  fillStreams(registry, snapshot)
  fillStreamParts(registry, snapshot)
  const tracker = { name: 'runnel_tracker_connected', help: '1 while there is a connection to the tracker.' }
  const trackers = new Gauge({ ...tracker, labelNames: ['tracker'], registers })
  for (const { nodeId, connected } of snapshot.trackers) trackers.set({ tracker: nodeId }, connected ? 1 : 0)
  fillEndpoints(registry, snapshot)
}

function fillEndpoints(registry: Registry, { chainEndpoints }: NodeSnapshot): void {
  const common = { labelNames: ['endpoint'], registers: [registry] }
  const gauge = (name: string, help: string) =>
    new Gauge({ name: `runnel_chain_endpoint_${name}`, help, ...common })
  const ok = gauge('ok', '1 while one of several endpoints of the chain answers, as the others do.')
  const block = gauge('block', 'The newest block that one of several endpoints of the chain named.')
  for (const { endpoint, state, block: newest } of chainEndpoints) {
    ok.set({ endpoint }, state === 'ok' ? 1 : 0)
    block.set({ endpoint }, newest)
  }
}

function fillStreams(registry: Registry, { streams }: NodeSnapshot): void {
  const registers = [registry]
  const states = { name: 'runnel_streams', help: 'Streams of the setting streams, by what became of them.' }
  const followed = new Gauge({ ...states, labelNames: ['state'], registers })
  for (const state of ['joined', 'denied', 'missing', 'failed'] as const)
    followed.set({ state }, streams.followed.filter((stream) => stream.state === state).length)
  const help = 'Stream parts of the setting streams that are not joined because there are too many.'
  new Gauge({ name: 'runnel_streams_ignored_parts', help, registers }).set(streams.ignoredParts)
}

function fillStreamParts(registry: Registry, { streamParts }: NodeSnapshot): void {
  const common = { labelNames: ['stream_part'], registers: [registry] }
  const gauge = (name: string, help: string) =>
    new Gauge({ name: `runnel_stream_part_${name}`, help, ...common })
  const counter = (name: string, help: string) =>
    new Counter({ name: `runnel_stream_part_${name}_total`, help, ...common })
  const neighbours = gauge('neighbours', 'Neighbours in the overlay.')
  const wanted = gauge('wanted_neighbours', 'Neighbours the tracker wants.')
  const delivered = counter('delivered', 'Messages delivered to the application.')
  const duplicates = counter('duplicates', 'Redundant copies dropped.')
  const published = counter('published', 'Messages published by this node.')
  for (const part of streamParts) {
    const label = { stream_part: part.streamPartId }
    neighbours.set(label, part.neighbours.length)
    wanted.set(label, part.wantedNeighbours)
    delivered.inc(label, part.delivered)
    duplicates.inc(label, part.duplicates)
    published.inc(label, part.published)
  }
  fillModes(registry, streamParts)
}

function fillModes(registry: Registry, streamParts: NodeSnapshot['streamParts']): void {
  const modes = new Gauge({
    name: 'runnel_stream_part_thinned_chains',
    help: 'Chains whose floods this node thins, counted at each link: by what it receives or sends of them.',
    labelNames: ['stream_part', 'direction', 'mode'],
    registers: [registry],
  })
  for (const { streamPartId, neighbours } of streamParts)
    for (const { modes: ofLink } of neighbours)
      for (const direction of ['received', 'sent'] as const)
        for (const [mode, chains] of Object.entries(ofLink?.[direction] ?? {}))
          modes.inc({ stream_part: streamPartId, direction, mode }, chains)
}

function fillPlugin(registry: Registry, plugin: string, metrics: readonly PluginMetric[]): void {
  const registers = [registry]
  for (const { type, name, help, value } of metrics) {
    const fullName = `runnel_${snakeCase(plugin)}_${name}`
    if (type === 'gauge') new Gauge({ name: fullName, help, registers }).set(value)
    else new Counter({ name: `${fullName}_total`, help, registers }).inc(value)
  }
}

function snakeCase(name: string): string {
  return name.replace(/[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])/g, '_').toLowerCase()
}
