import { defineCommand } from '../cli/command.ts'
import { userOptions } from '../cli/common-options.ts'
import { printResult } from '../cli/output.ts'
import { streamArgument, streamPositional } from '../cli/stream-argument.ts'
import { withClient } from '../cli/with-client.ts'

export const streamDelete = defineCommand({
  name: 'stream delete',
  describe: 'Delete a stream and every permission on it',
  positionals: { stream: streamPositional },
  options: userOptions,
  examples: [['stream delete 0xowner/old --network network.json --key my.key', '']],
  run: async ({ stream, json, ...network }) => {
    const streamOf = streamArgument(stream)
    await withClient(network, { needsKey: true }, async (client) => {
      const id = streamOf(client)
      await client.deleteStream(id)
      printResult({ id, deleted: true }, json, [`deleted ${id}`])
    })
  },
})
