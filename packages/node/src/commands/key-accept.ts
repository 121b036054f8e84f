import { defineCommand } from '../cli/command.ts'
import { networkOptions } from '../cli/common-options.ts'
import { printResult } from '../cli/output.ts'
import {
  parseDelegation,
  problemOfHolder,
  saveDelegation,
  savedLine,
  shownDelegation,
} from '../keys/delegations.ts'
import { requireKey } from '../keys/resolve-key.ts'

export const keyAccept = defineCommand({
  name: 'key accept',
  describe: 'Make a delegation file from a key and a delegation to that key',
  positionals: {
    delegation: { describe: 'Output of runnel key delegate --to', required: true },
    file: { describe: 'File to write; an existing file is never overwritten', required: true },
  },
  options: { key: networkOptions.key },
  examples: [
    [
      'key accept 0x01… server.delegation --key server.key',
      'server.key, made on this machine, acts for the user who signed the delegation',
    ],
  ],
  run: async ({ delegation: text, file, key, json }) => {
    const privateKey = requireKey({ key, env: process.env })
    const delegation = parseDelegation(text)
    const problem = await problemOfHolder(delegation, { privateKey, chainId: undefined, wallMs: Date.now() })
    if (problem !== undefined) throw problem
    saveDelegation(file, privateKey, delegation)
    printResult({ file, ...shownDelegation(delegation) }, json, [savedLine(file, delegation)])
  },
})
