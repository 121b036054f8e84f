import { toStreamId } from '@runnel/protocol'
import { defineCommand } from '../cli/command.ts'
import { userOptions } from '../cli/common-options.ts'
import { printResult } from '../cli/output.ts'
import { withClient } from '../cli/with-client.ts'

export const streamDelete = defineCommand({
  name: 'stream delete',
  describe: 'Delete a stream and every permission on it',
  positionals: { stream: { describe: 'Stream id: 0xowner/path', required: true } },
  options: userOptions,
  examples: [['stream delete 0xowner/old --network network.json --key my.key', '']],
  run: async ({ stream, json, ...network }) => {
    const id = toStreamId(stream)
    await withClient(network, { needsKey: true }, async (client) => {
      await client.deleteStream(id)
      printResult({ id, deleted: true }, json, [`deleted ${id}`])
    })
  },
})
