import type { RunnelClient } from '@runnel/client'
import type { Logger } from '../logger.ts'

/** What a plugin is given to work with. */
export interface PluginContext {
  readonly client: RunnelClient
  readonly logger: Logger
}

/** A part of a broker node that can be switched on and off in the configuration. */
export interface Plugin {
  readonly name: string
  /** Resolves when the plugin works; a rejection ends the start of the broker. */
  start(context: PluginContext): Promise<void>
  /** Idempotent; called also when `start` failed. */
  stop(): Promise<void>
}
