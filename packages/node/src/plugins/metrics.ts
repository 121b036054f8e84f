import type { PluginMetric } from './plugin.ts'

/** What is counted since the start. */
export function counter(name: string, help: string, value: number): PluginMetric {
  return { type: 'counter', name, help, value }
}

/** What is so now. */
export function gauge(name: string, help: string, value: number): PluginMetric {
  return { type: 'gauge', name, help, value }
}
