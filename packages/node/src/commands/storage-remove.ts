import { toNodeId } from '@runnel/protocol'
import { defineCommand } from '../cli/command.ts'
import { userOptions } from '../cli/common-options.ts'
import { printResult } from '../cli/output.ts'
import { streamArgument, streamPositional } from '../cli/stream-argument.ts'
import { withClient } from '../cli/with-client.ts'

export const storageRemove = defineCommand({
  name: 'storage remove',
  describe: 'Unassign a stream from a storage node',
  positionals: {
    stream: streamPositional,
    node: { describe: 'Node id of the storage node', required: true },
  },
  options: userOptions,
  examples: [['storage remove 0xowner/lobby 0x5b38…ddc4 --network network.json --key owner.key', '']],
  epilogue:
    'Needs the edit permission on the stream, or the key of the storage node. Stored messages stay until their retention ends.',
  run: async ({ stream, node, json, ...network }) => {
    const [streamOf, nodeId] = [streamArgument(stream), toNodeId(node)]
    await withClient(network, { needsKey: true }, async (client) => {
      const streamId = streamOf(client)
      await client.removeFromStorageNode(streamId, nodeId)
      printResult({ streamId, nodeId, assigned: false }, json, [`${nodeId} no longer keeps ${streamId}`])
    })
  },
})
