// Writes docs/metrics.md from what is served:  node --conditions=runnel-src scripts/metrics-page.ts
import { writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { counterHelp, gaugeHelp } from '@runnel/network'
import type { NodeId, StreamPartId } from '@runnel/protocol'
import { systemRandom } from '@runnel/protocol/system'
import { defaultTrackerLimits, defaultTrackerOptions, TrackerCore } from '@runnel/tracker'
import { GatewayCounts } from '../packages/node/src/gateway/counts.ts'
import { gatewayPlugin } from '../packages/node/src/gateway/gateway-plugin.ts'
import { counterMetric, createMetrics, gaugeMetric } from '../packages/node/src/plugins/http/metrics.ts'
import { metricsOf, newCounters, noGauges } from '../packages/node/src/gateway/mqtt/counters.ts'
import type { NodeSnapshot } from '../packages/node/src/snapshot.ts'
import { storageMetrics } from '../packages/storage/src/storage-metrics.ts'
import { idleStorageStatus } from '../packages/storage/src/storage-status.testkit.ts'
import {
  addClusterMetrics,
  addConnectionMetrics,
  createMetrics as createTrackerMetrics,
} from '../packages/tracker/src/http/metrics.ts'

interface Metric {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly labels: readonly string[]
}

/** One of everything that has a label, so that the labels show. */
const snapshot: NodeSnapshot = {
  nodeId: `0x${'0'.repeat(40)}` as NodeId,
  pid: 1,
  websocketUrl: undefined,
  cryptoBackend: 'js',
  uptimeMs: 0,
  streams: { isRead: true, followed: [], ignoredParts: 0 },
  isReplaced: false,
  admissionProblem: undefined,
  clockProblem: undefined,
  chainEndpoints: [{ endpoint: 'https://rpc.example', state: 'ok', block: 1 }],
  trackers: [{ nodeId: `0x${'1'.repeat(40)}` as NodeId, connected: true }],
  streamParts: [
    {
      streamPartId: `0x${'0'.repeat(40)}/path#0` as StreamPartId,
      neighbours: [
        {
          nodeId: `0x${'2'.repeat(40)}` as NodeId,
          transport: 'websocket',
          rttMs: 1,
          modes: {
            received: { eager: 1, standby: 0, digest: 0 },
            sent: { eager: 1, standby: 0, digest: 0 },
          },
        },
      ],
      wantedNeighbours: 0,
      delivered: 0,
      duplicates: 0,
      published: 0,
    },
  ],
  counters: {},
  plugins: {},
}

/** The page as it must stand in docs/metrics.md. */
export async function metricsPage(): Promise<string> {
  const nodeCounters = new Map([
    ...Object.keys(counterHelp).map((name) => [counterMetric(name), name] as const),
    ...Object.keys(gaugeHelp).map((name) => [gaugeMetric(name), name] as const),
  ])
  const ofNode = metricsIn(
    await createMetrics(
      () => snapshot,
      () =>
        new Map([
          ['storage', storageMetrics(idleStorageStatus)],
          ['gateway', gatewayPlugin.create({}).metrics?.() ?? []],
          ['httpGateway', new GatewayCounts().metrics(0)],
          ['mqtt', metricsOf(newCounters(), noGauges)],
        ]),
    ).text(),
  )
  const ofTracker = metricsIn(await trackerText())
  const counters = ofNode.filter(({ name }) => nodeCounters.has(name))
  const others = ofNode.filter(({ name }) => !nodeCounters.has(name))
  return [
    '# Metrics',
    'Nodes and trackers serve these at `/metrics` in the format of Prometheus; what `_total` ends counts from the start of the process. This page is made from what they serve (`node --conditions=runnel-src scripts/metrics-page.ts`); a test compares the two. The limits behind the counters of what was dropped or refused are in [limits.md](limits.md).',
    '## Nodes',
    "The counters of the network node; `metrics()` of a node and the `dropped` event call them by the name in the first column. A node's `/metrics` also has the usual ones of Node.js, `process_…` and `nodejs_…`.",
    table(
      ['counter', 'metric', 'type', 'meaning'],
      counters.map(({ name, type, help }) => [code(nodeCounters.get(name) ?? ''), code(name), type, help]),
    ),
    'And of the broker node around it; those that begin with `runnel_storage_` are served by storage nodes only, those of gateways where they are switched on:',
    table(
      ['metric', 'type', 'labels', 'meaning'],
      others.map(({ name, type, labels, help }) => [code(name), type, labels.map(code).join(', '), help]),
    ),
    '## Trackers',
    'Those that begin with `runnel_tracker_cluster_` are served by trackers in a cluster only.',
    table(
      ['metric', 'type', 'meaning'],
      ofTracker.map(({ name, type, help }) => [code(name), type, help]),
    ),
    '',
  ].join('\n\n')
}

function trackerText(): Promise<string> {
  const options = { degree: defaultTrackerOptions.degree, limits: defaultTrackerLimits }
  const registry = createTrackerMetrics(new TrackerCore(options, { random: systemRandom }))
  addConnectionMetrics(registry, { opened: 0, refused: 0, failedHandshakes: 0 })
  addClusterMetrics(registry, {
    ...{ counters: { get: () => 0 }, size: { linked: 0, registered: 0 } },
    state: 'joined',
    figures: { leads: 0, replicas: 0, circuitsOut: 0, circuitsIn: 0 },
  })
  return registry.metrics()
}

/** Runnel's metrics in a text in the format of Prometheus. */
function metricsIn(text: string): Metric[] {
  return [...text.matchAll(/^# HELP (runnel_\w+) (.*)\n# TYPE \1 (\w+)\n(?:\1\{(.*)\})?/gm)].map(
    ([, name = '', help = '', type = '', labels = '']) => ({
      ...{ name, help: help.replace(/\.?$/, '.'), type },
      labels: [...labels.matchAll(/(\w+)="/g)].map(([, label = '']) => label),
    }),
  )
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

function code(text: string): string {
  return `\`${text}\``
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  writeFileSync(fileURLToPath(new URL('../docs/metrics.md', import.meta.url)), await metricsPage())
}
