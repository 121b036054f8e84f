import type { RunnelClient } from '@runnel/client'
import type { FastifyInstance } from 'fastify'
import type { Logger } from '../logger.ts'
import type { NodeSnapshot } from '../snapshot.ts'

/** What a plugin is given to work with. */
export interface PluginContext {
  readonly client: RunnelClient
  /**
   * Opens another client in the same network, which listens nowhere and acts for the user of these files; whoever opens it closes it.
   * Throws what is wrong with the files, and what `createClient` throws.
   */
  readonly openClient: (identity: {
    readonly as: string
    readonly readingKey?: string | undefined
  }) => Promise<RunnelClient>
  readonly logger: Logger
  /** How the node and its plugins are doing. */
  readonly snapshot: () => NodeSnapshot
  /** The plugins started before this one, by name: what answers requests serves their routes and metrics too. */
  readonly started: ReadonlyMap<string, Plugin>
}

/** A number at `/metrics`, as `runnel_<plugin>_<name>`; a counter's name gets `_total` at its end. */
export interface PluginMetric {
  readonly type: 'gauge' | 'counter'
  /** Lower case letters, digits and `_`. */
  readonly name: string
  readonly help: string
  readonly value: number
}

/** A plugin of one broker node. */
export interface Plugin {
  /** Resolves when the plugin works; a rejection ends the start of the broker. */
  start(context: PluginContext): Promise<void>
  /** Idempotent; called also when `start` failed or was never called. */
  stop(): Promise<void>
  /** How it is doing, plain data: `plugins.<name>` at `/v1/status`. */
  status?(): unknown
  /** Adds what it serves over HTTP. Called once, after `start`. In JSON Schemas of routes, names of headers must be in lower case. */
  routes?(server: FastifyInstance): void
  /** Called whenever `/metrics` is read; always the same ones. */
  metrics?(): readonly PluginMetric[]
}

/** Checks settings and fills in defaults: any schema of Zod, or an object that answers as one. */
export interface PluginSchema<Options> {
  safeParse(
    value: unknown,
  ):
    | { readonly success: true; readonly data: Options }
    | { readonly success: false; readonly error: { readonly issues: readonly SettingIssue[] } }
}

export interface SettingIssue {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/**
 * A kind of plugin: what a package exports as its default. It keeps no state; that is in what `create` returns, so that
 * several brokers can run in one process. With a setting `enabled` that is false it is left out.
 */
export interface PluginDefinition<Options = unknown, Instance extends Plugin = Plugin> {
  /** A word of letters and digits that begins with a small letter, unlike that of any other plugin. */
  readonly name: string
  readonly schema: PluginSchema<Options>
  /** Called before the broker connects. Throws when the settings cannot work. */
  create(options: Options): Instance
}
