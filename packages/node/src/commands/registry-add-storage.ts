import { defineCommand } from '../cli/command.ts'
import { networkOptions } from '../cli/common-options.ts'
import { printResult } from '../cli/output.ts'
import { withClient } from '../cli/with-client.ts'
import { nodeError } from '../errors.ts'

export const registryAddStorage = defineCommand({
  name: 'registry add-storage',
  describe: 'Register a storage node, or give a new URL to one that is registered',
  positionals: {
    url: { describe: 'Where others reach it, such as wss://storage.example:7170', required: true },
  },
  options: networkOptions,
  examples: [
    ['registry add-storage ws://127.0.0.1:7170 --network network.json --key storage.key', 'With its own key'],
  ],
  epilogue:
    'A storage node registers itself: the key is that of the node, and its account pays. Streams are assigned with: runnel storage add.',
  run: async ({ url, json, ...network }) => {
    if (!/^wss?:\/\/\S+$/.test(url) || !URL.canParse(url))
      throw nodeError('USAGE', `"${url}" is no ws:// or wss:// URL`)
    await withClient(network, { needsKey: true }, async (client) => {
      await client.registerStorageNode(url)
      printResult({ nodeId: client.account, url }, json, [`registered ${client.account} ${url}`])
    })
  },
})
