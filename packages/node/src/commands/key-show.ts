import { defineCommand } from '../cli/command.ts'
import { networkOptions } from '../cli/common-options.ts'
import { printResult } from '../cli/output.ts'
import { nameKey } from '../keys/key-file.ts'
import { requireKey } from '../keys/resolve-key.ts'

export const keyShow = defineCommand({
  name: 'key show',
  describe: 'Print the address (node id) of a key; never the key itself',
  positionals: { file: { describe: 'Key file. Default: the one of --key or the environment' } },
  options: { key: networkOptions.key },
  examples: [['key show my.key', '0x5b38da6a701c568545dcfcb03fcb875f56beddc4']],
  run: async ({ file, key, json }) => {
    const { nodeId } = await nameKey(requireKey({ key: file ?? key, env: process.env }))
    printResult({ address: nodeId }, json, [nodeId])
  },
})
