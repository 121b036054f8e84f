import { defineCommand } from '../cli/command.ts'
import { printResult } from '../cli/output.ts'
import { nodeError } from '../errors.ts'
import { inTurn, readKeysFile, writeKeysFile } from '../gateway/access/keys-file.ts'
import { keysFileOption } from './gateway-keys-option.ts'

export const gatewayKeyRemove = defineCommand({
  name: 'gateway key remove',
  describe: 'Remove a key; nodes that use the file end its connections within seconds',
  positionals: { name: { describe: 'Name of the key', required: true } },
  options: keysFileOption,
  examples: [['gateway key remove sensors', 'From gateway-keys.json']],
  run: async ({ name, file, json }) => {
    await inTurn(file, () => {
      const before = readKeysFile(file)
      const left = before.filter((entry) => entry.name !== name)
      if (left.length === before.length) throw nodeError('GATEWAY_NO_SUCH_KEY', name)
      writeKeysFile(file, left)
    })
    printResult({ file, removed: name }, json, [`removed ${name}`])
  },
})
