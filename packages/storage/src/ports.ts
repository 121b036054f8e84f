import type { RunnelClient } from '@runnel/client'

/** Takes records for the log, as pino's loggers do. */
export type Logger = Readonly<
  Record<'debug' | 'info' | 'warn' | 'error', (details: object, message: string) => void>
>

/** What a storage node needs of the broker around it; a broker's own context has more. */
export interface PluginContext {
  readonly client: RunnelClient
  readonly logger: Logger
}
