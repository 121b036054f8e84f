import { defineCommand } from '../cli/command.ts'
import { networkOptions } from '../cli/common-options.ts'
import { printResult } from '../cli/output.ts'
import { withClient } from '../cli/with-client.ts'
import { nodeError } from '../errors.ts'

export const registryAddStorage = defineCommand({
  name: 'registry add-storage',
  describe: 'Register a storage node, or change the URL of a registered one',
  positionals: {
    url: { describe: 'URL by which others reach it, such as wss://storage.example:7170', required: true },
  },
  options: networkOptions,
  examples: [
    ['registry add-storage ws://127.0.0.1:7170 --network network.json --key storage.key', 'With its own key'],
  ],
  epilogue:
    'A storage node registers itself: use the key of the node; its account pays. Assign streams with: runnel storage add.',
  run: async ({ url, json, ...network }) => {
    if (!/^wss?:\/\/\S+$/.test(url) || !URL.canParse(url))
      throw nodeError('USAGE', `"${url}" is not a ws:// or wss:// URL`)
    await withClient(network, { needsKey: true }, async (client) => {
      await client.registerStorageNode(url)
      printResult({ nodeId: client.account, url }, json, [`registered ${client.account} ${url}`])
    })
  },
})
