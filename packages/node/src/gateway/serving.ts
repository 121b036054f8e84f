import type { PluginMetric } from '../plugins/plugin.ts'

/** A gateway at work: what its plugin loads where it is on. */
export interface Serving<Where> {
  /** Resolves to where it answers. */
  start(): Promise<Where>
  /** Idempotent; called also when `start` failed. */
  stop(): Promise<void>
  status(): object
  metrics(): readonly PluginMetric[]
}
