import { defineCommand } from '../cli/command.ts'
import { readDocument } from '../cli/network-document.ts'
import { printResult } from '../cli/output.ts'

export const networkShow = defineCommand({
  name: 'network show',
  describe: 'Check the signature of a network’s document, and print its content',
  options: {
    file: { type: 'string', default: 'network.json', describe: 'The document' },
  },
  examples: [['network show --file network.json', 'Its owner, revision, trackers and streams']],
  run: async ({ file, json }) => {
    const { owner, revision, network } = await readDocument(file)
    const { trackers, streams } = network
    printResult({ owner, revision, trackers, streams }, json, [
      `owner     ${owner}`,
      `revision  ${revision}`,
      ...trackers.map(({ nodeId, url }) => `tracker   ${nodeId} ${url}`),
      ...streams.map(
        ({ id, partitions }) => `stream    ${id}, ${partitions} partition${partitions === 1 ? '' : 's'}`,
      ),
    ])
  },
})
