import type { StorageNodeInfo } from '@runnel/client'
import { toNodeId, type NodeId } from '@runnel/protocol'
import { defineCommand } from '../cli/command.ts'
import { userOptions } from '../cli/common-options.ts'
import { printResult } from '../cli/output.ts'
import { streamArgument, streamPositional } from '../cli/stream-argument.ts'
import { withClient } from '../cli/with-client.ts'
import { nodeError } from '../errors.ts'

export const storageAdd = defineCommand({
  name: 'storage add',
  describe: 'Assign a stream to a storage node',
  positionals: {
    stream: streamPositional,
    node: { describe: 'Node id of a registered storage node; optional if there is only one' },
  },
  options: userOptions,
  examples: [['storage add 0xowner/lobby 0x5b38…ddc4 --network network.json --key owner.key', '']],
  epilogue:
    'Needs the edit permission on the stream. The node stores messages from then on, and asks the other storage nodes of the stream for earlier ones.',
  run: async ({ stream, node, json, ...network }) => {
    const [streamOf, named] = [streamArgument(stream), node === undefined ? undefined : toNodeId(node)]
    await withClient(network, { needsKey: true }, async (client) => {
      const streamId = streamOf(client)
      const nodeId = named ?? onlyOne(await client.listStorageNodes())
      await client.addToStorageNode(streamId, nodeId)
      printResult({ streamId, nodeId, assigned: true }, json, [`${nodeId} keeps ${streamId}`])
    })
  },
})

/** Throws USAGE. */
function onlyOne(nodes: readonly StorageNodeInfo[]): NodeId {
  const [first, ...others] = nodes.map(({ nodeId }) => nodeId)
  if (first === undefined) throw nodeError('USAGE', 'no storage node is registered in this network')
  if (others.length > 0) throw nodeError('USAGE', `say which: ${[first, ...others].slice(0, 10).join(', ')}`)
  return first
}
