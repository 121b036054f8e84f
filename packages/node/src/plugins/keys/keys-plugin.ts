import { z } from 'zod'
import type { Plugin, PluginDefinition } from '../plugin.ts'

const schema = z
  .strictObject({
    hold: z
      .array(z.string())
      .max(64)
      .default([])
      .describe(
        'Encrypted streams whose key holder is the user of this node. The node keeps valid keys ready for all their publishers.',
      ),
  })
  .prefault({})

type KeysConfig = z.output<typeof schema>

/** Holds the keys of streams for all their publishers. */
export const keysPlugin = {
  name: 'keys',
  schema,
  create: createKeysPlugin,
} as const satisfies PluginDefinition<KeysConfig>

function createKeysPlugin({ hold }: KeysConfig): Plugin {
  return {
    start: async ({ client }) => {
      await Promise.all(hold.map((stream) => client.holdKeys(stream)))
    },
    // They are held until the client closes.
    stop: async () => {},
  }
}
