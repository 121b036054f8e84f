import { Counter, Gauge, Registry } from 'prom-client'
import type { ClusterFigures, ClusterState } from '../cluster/cluster-view.ts'
import { clusterCounterHelp, type ClusterCounterName } from '../cluster/core/cluster-counters.ts'
import { counterHelp, type CounterName } from '../core/counters.ts'
import type { TrackerCore } from '../core/tracker-core.ts'
import { notReadyReasons } from './readiness.ts'

/** The transport's counters. */
export interface ConnectionCounts {
  readonly opened: number
  readonly refused: number
  readonly failedHandshakes: number
}

/** The core's counts as Prometheus metrics: `runnel_tracker_<count>_total`, and current amounts. */
export function createMetrics(core: TrackerCore): Registry {
  const registry = new Registry()
  for (const name of Object.keys(counterHelp) as CounterName[]) {
    counter(registry, snakeCase(name), counterHelp[name], () => core.counters.get(name))
  }
  gauge(registry, 'nodes', 'Nodes known at present', () => core.nodes.size)
  gauge(registry, 'stream_parts', 'Stream parts with at least one node', () => core.streamParts.size)
  return registry
}

/** Adds the transport's counters. */
export function addConnectionMetrics(registry: Registry, counts: ConnectionCounts): void {
  counter(registry, 'connections_opened', 'Connections opened', () => counts.opened)
  counter(registry, 'connections_refused', 'Connections refused because of a limit', () => counts.refused)
  counter(registry, 'handshakes_failed', 'Connections that proved no id', () => counts.failedHandshakes)
}

/** The shown part of a cluster. */
export interface MeasuredCluster {
  readonly counters: { get(name: ClusterCounterName): number }
  readonly size: { readonly linked: number; readonly registered: number }
  readonly state: ClusterState
  readonly figures: ClusterFigures
}

/** Adds the cluster's counters, `runnel_tracker_cluster_<count>_total`, and current amounts. */
export function addClusterMetrics(registry: Registry, cluster: MeasuredCluster): void {
  for (const name of Object.keys(clusterCounterHelp) as ClusterCounterName[]) {
    const help = clusterCounterHelp[name]
    counter(registry, `cluster_${snakeCase(name)}`, help, () => cluster.counters.get(name))
  }
  const show = (name: string, help: string, value: () => number) =>
    gauge(registry, `cluster_${name}`, help, value)
  show('ready', '1 while the registry lists it and other trackers can reach it, as /ready says', () =>
    notReadyReasons(cluster.state).length === 0 ? 1 : 0,
  )
  show('registered', 'Trackers in the registry', () => cluster.size.registered)
  show('linked', 'Other trackers linked at present', () => cluster.size.linked)
  show('leads', 'Stream parts this tracker leads', () => cluster.figures.leads)
  show('replicas', 'Stream parts of other trackers with a replica here', () => cluster.figures.replicas)
  show('circuits_out', 'Circuits that nodes have open over this tracker', () => cluster.figures.circuitsOut)
  show('circuits_in', 'Nodes connected here over other trackers', () => cluster.figures.circuitsIn)
}

function counter(registry: Registry, name: string, help: string, value: () => number): void {
  new Counter({
    name: `runnel_tracker_${name}_total`,
    help,
    registers: [registry],
    collect() {
      this.reset()
      this.inc(value())
    },
  })
}

function gauge(registry: Registry, name: string, help: string, value: () => number): void {
  new Gauge({
    name: `runnel_tracker_${name}`,
    help,
    registers: [registry],
    collect() {
      this.set(value())
    },
  })
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
