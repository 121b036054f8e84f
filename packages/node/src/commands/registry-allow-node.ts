import { toNodeId } from '@runnel/protocol'
import { defineCommand } from '../cli/command.ts'
import { networkOptions } from '../cli/common-options.ts'
import { changeNodes } from '../cli/node-list.ts'
import { printResult } from '../cli/output.ts'

export const registryAllowNode = defineCommand({
  name: 'registry allow-node',
  describe: 'Let nodes take part in a private network',
  positionals: { nodes: { describe: 'Node ids: the addresses of their keys', required: true, many: true } },
  options: networkOptions,
  examples: [['registry allow-node 0x5b38…ddc4 0xab84…5cb2 --network network.json --key owner.key', '']],
  epilogue: 'Only the owner of the tracker registry can do this. Nodes that are already listed stay listed.',
  run: async ({ nodes, json, ...network }) => {
    const nodeIds = nodes.map(toNodeId)
    await changeNodes('allowNodes', nodeIds, network)
    printResult(
      { nodeIds, allowed: true },
      json,
      nodeIds.map((nodeId) => `allowed ${nodeId}`),
    )
  },
})
