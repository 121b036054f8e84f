import { defineCommand } from '../cli/command.ts'
import { printResult } from '../cli/output.ts'
import { readKeysFile } from '../gateway/access/keys-file.ts'
import { keysFileOption } from './gateway-keys-option.ts'

export const gatewayKeyList = defineCommand({
  name: 'gateway key list',
  describe: 'List the keys for the gateways of a node, and what each may do; never the keys themselves',
  options: keysFileOption,
  examples: [['gateway key list', 'The keys in gateway-keys.json']],
  run: async ({ file, json }) => {
    const keys = readKeysFile(file).map(({ keyHash, ...shown }) => shown)
    const lines = keys.map(({ name, publish, subscribe, as, expires }) =>
      [
        name,
        `publish ${publish.join(', ') || 'nothing'}`,
        `subscribe ${subscribe.join(', ') || 'nothing'}`,
        ...(as === undefined ? [] : [`as ${as}`]),
        ...(expires === undefined ? [] : [`until ${expires}`]),
      ].join('; '),
    )
    printResult(keys, json, lines)
  },
})
