import { toNodeId } from '@runnel/protocol'
import { isTrackerUrl, shownUrl } from '@runnel/client'
import { defineCommand } from '../cli/command.ts'
import { networkOptions } from '../cli/common-options.ts'
import { printResult } from '../cli/output.ts'
import { nodeError } from '../errors.ts'
import { requireKey } from '../keys/resolve-key.ts'
import { registerTracker } from './register-tracker.ts'

export const registryAddTracker = defineCommand({
  name: 'registry add-tracker',
  describe: 'Add a tracker to the network, or change the URL of one',
  positionals: {
    tracker: { describe: 'Node id of the tracker', required: true },
    url: { describe: 'URL by which nodes reach it, such as wss://tracker.example:30300', required: true },
  },
  options: networkOptions,
  examples: [
    ['registry add-tracker 0x5b38…ddc4 ws://127.0.0.1:30300 --network network.json --key owner.key', ''],
  ],
  epilogue: 'Only the owner of the tracker registry can add a tracker. A tracker can change its own URL.',
  run: async ({ tracker, url, network, key, json }) => {
    const nodeId = toNodeId(tracker)
    if (!isTrackerUrl(url))
      throw nodeError('USAGE', `"${shownUrl(url)}" is not a ws:// or wss:// URL without user and password`)
    const privateKey = requireKey({ key, env: process.env })
    const added = await registerTracker({ network, privateKey, nodeId, url })
    printResult({ nodeId, url, added }, json, [`${added ? 'added' : 'updated'} ${nodeId} ${url}`])
  },
})
