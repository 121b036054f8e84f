import { defineCommand } from '../cli/command.ts'
import { printResult } from '../cli/output.ts'
import { createKeyFile } from '../keys/key-file.ts'

export const keyNew = defineCommand({
  name: 'key new',
  describe: 'Make a private key and write it to a file that only you can read',
  positionals: { file: { describe: 'File to write; an existing file is never overwritten', required: true } },
  examples: [['key new my.key', 'Writes my.key (mode 600) and prints the address']],
  run: async ({ file, json }) => {
    const { nodeId } = await createKeyFile(file)
    printResult({ file, address: nodeId }, json, [nodeId])
  },
})
