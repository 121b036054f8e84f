import { toNodeId } from '@runnel/protocol'
import { defineCommand } from '../cli/command.ts'
import { networkOptions } from '../cli/common-options.ts'
import { changeNodes } from '../cli/node-list.ts'
import { printResult } from '../cli/output.ts'

export const registryRemoveNode = defineCommand({
  name: 'registry remove-node',
  describe: 'Remove nodes from a private network',
  positionals: { nodes: { describe: 'Node ids', required: true, many: true } },
  options: networkOptions,
  examples: [['registry remove-node 0x5b38…ddc4 --network network.json --key owner.key', '']],
  epilogue:
    'Only the owner of the tracker registry can do this. Trackers and other nodes drop a removed node within seconds, as soon as they read the change from the chain.',
  run: async ({ nodes, json, ...network }) => {
    const nodeIds = nodes.map(toNodeId)
    await changeNodes('removeNodes', nodeIds, network)
    printResult(
      { nodeIds, allowed: false },
      json,
      nodeIds.map((nodeId) => `removed ${nodeId}`),
    )
  },
})
