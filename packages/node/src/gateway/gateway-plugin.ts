import { systemClock } from '@runnel/protocol/system'
import { z } from 'zod'
import { file } from '../config/fields.ts'
import { nodeError } from '../errors.ts'
import { counter, gauge } from '../plugins/metrics.ts'
import type { Plugin, PluginContext, PluginDefinition } from '../plugins/plugin.ts'
import { readKeysFile } from './access/keys-file.ts'
import { KeyedAccess, type GatewayAccess } from './access/access.ts'

const schema = z
  .strictObject({
    keysFile: file()
      .optional()
      .describe(
        'File that says who may use the gateways of this node, and as which user. runnel gateway key new writes it, with mode 600. The node reads it again when it changes.',
      ),
  })
  .prefault({})

type GatewayConfig = z.output<typeof schema>

export interface GatewayPlugin extends Plugin {
  /** Undefined without a file of keys. */
  readonly access: GatewayAccess | undefined
}

/** Who may use the gateways of a broker: for the plugins that are gateways, which come after it. */
export const gatewayPlugin = {
  name: 'gateway',
  schema,
  create: createGatewayPlugin,
} as const satisfies PluginDefinition<GatewayConfig, GatewayPlugin>

/** For the start of a gateway. Throws GATEWAY_NO_KEYS where no file of keys is named. */
export function requireGatewayAccess({ started }: Pick<PluginContext, 'started'>): GatewayAccess {
  // Names are unique: what stands under this one was made by this definition.
  const access = (started.get(gatewayPlugin.name) as GatewayPlugin | undefined)?.access
  if (access === undefined) throw nodeError('GATEWAY_NO_KEYS', 'gateway.keysFile is not set')
  return access
}

function createGatewayPlugin({ keysFile }: GatewayConfig): GatewayPlugin {
  // What is wrong with it is known before the broker connects.
  if (keysFile !== undefined) readKeysFile(keysFile)
  let access: KeyedAccess | undefined
  return {
    start: async ({ client, openClient, logger }) => {
      if (keysFile === undefined) return
      const keyed = new KeyedAccess(keysFile, { client, open: openClient, clock: systemClock, logger })
      access = keyed
      await keyed.start()
    },
    stop: async () => access?.stop(),
    get access() {
      return access
    },
    status: () => access?.counts,
    metrics: () => {
      const { accounts = 0, connections = 0, identities = 0, failures = 0 } = access?.counts ?? {}
      return [
        gauge('keys', 'Keys of the gateways.', accounts),
        gauge('connections', 'Connections to the gateways.', connections),
        gauge('identities', 'Clients of identities served.', identities),
        counter('wrong_keys', 'Attempts with a wrong key.', failures),
      ]
    },
  }
}
