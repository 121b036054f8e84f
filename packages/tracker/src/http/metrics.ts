import { Counter, Gauge, Registry } from 'prom-client'
import { counterHelp, type CounterName } from '../core/counters.ts'
import type { TrackerCore } from '../core/tracker-core.ts'

/** The core's counts as Prometheus metrics: `runnel_tracker_<count>_total`, and how much there is at present. */
export function createMetrics(core: TrackerCore): Registry {
  const registry = new Registry()
  for (const name of Object.keys(counterHelp) as CounterName[]) {
    new Counter({
      name: `runnel_tracker_${snakeCase(name)}_total`,
      help: counterHelp[name],
      registers: [registry],
      collect() {
        this.reset()
        this.inc(core.counters.get(name))
      },
    })
  }
  gauge(registry, 'nodes', 'Nodes known at present', () => core.nodes.size)
  gauge(registry, 'stream_parts', 'Stream parts with at least one node', () => core.streamParts.size)
  return registry
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
