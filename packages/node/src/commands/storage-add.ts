import { toNodeId } from '@runnel/protocol'
import { defineCommand } from '../cli/command.ts'
import { userOptions } from '../cli/common-options.ts'
import { printResult } from '../cli/output.ts'
import { streamArgument, streamPositional } from '../cli/stream-argument.ts'
import { withClient } from '../cli/with-client.ts'

export const storageAdd = defineCommand({
  name: 'storage add',
  describe: 'Have a storage node keep a stream',
  positionals: {
    stream: streamPositional,
    node: { describe: 'Node id of a registered storage node', required: true },
  },
  options: userOptions,
  examples: [['storage add 0xowner/lobby 0x5b38…ddc4 --network network.json --key owner.key', '']],
  epilogue:
    'Needs the edit permission on the stream. It is kept from then on; other storage nodes of the stream are asked for what was before.',
  run: async ({ stream, node, json, ...network }) => {
    const [streamOf, nodeId] = [streamArgument(stream), toNodeId(node)]
    await withClient(network, { needsKey: true }, async (client) => {
      const streamId = streamOf(client)
      await client.addToStorageNode(streamId, nodeId)
      printResult({ streamId, nodeId, assigned: true }, json, [`${nodeId} keeps ${streamId}`])
    })
  },
})
