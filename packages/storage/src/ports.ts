import type { RunnelClient } from '@runnel/client'

/** Takes records for the log, as pino's loggers do. */
export type Logger = Readonly<
  Record<'debug' | 'info' | 'warn' | 'error', (details: object, message: string) => void>
>

/** A number at `/metrics`, which the broker gives the prefix `runnel_storage_`. */
export interface Metric {
  readonly type: 'gauge' | 'counter'
  readonly name: string
  readonly help: string
  readonly value: number
}

/** What a storage node needs of the broker around it; a broker's own context has more. */
export interface PluginContext {
  readonly client: RunnelClient
  readonly logger: Logger
}
