import { toStreamId } from '@runnel/protocol'
import { z } from 'zod'
import type { Plugin, PluginDefinition } from '../plugin.ts'

const schema = z
  .strictObject({
    hold: z
      .array(z.string())
      .max(64)
      .default([])
      .describe(
        'Encrypted streams whose key holder this node’s user is: it has valid keys ready for all their publishers.',
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
  const streamIds = hold.map(toStreamId)
  return {
    start: async ({ client }) => {
      await Promise.all(streamIds.map((streamId) => client.holdKeys(streamId)))
    },
    // They are held until the client closes.
    stop: async () => {},
  }
}
