import { exportReadingKey, keySigner, writeReadingKeyFile } from '@runnel/client'
import { defineCommand } from '../cli/command.ts'
import { networkOptions } from '../cli/common-options.ts'
import { readNetwork } from '../cli/network-source.ts'
import { printResult } from '../cli/output.ts'
import { chainIdOf } from '../cli/with-chain.ts'
import { cardOf, checkGeneration, shownCard } from '../keys/reading-keys.ts'
import { requireKey } from '../keys/resolve-key.ts'
import { generationOption } from './reading-key-options.ts'

export const readingKeyExport = defineCommand({
  name: 'reading-key export',
  describe: 'Write the reading key of a key file to a file, for a process that has a delegation only',
  positionals: { file: { describe: 'Where to write it; never overwritten', required: true } },
  options: { ...networkOptions, ...generationOption },
  examples: [
    [
      'reading-key export server.reading-key --network network.json --key my.key',
      'A server with that file and a delegation reads what is encrypted for my.key',
    ],
  ],
  epilogue:
    'Whoever has the file can read everything that is encrypted for the user, also after the delegation ended; runnel reading-key rotate renews it for what comes later. Nothing is sent to the network; it is asked for its chain id if the network file has none.',
  run: async ({ file, generation, network, key, json }) => {
    checkGeneration(generation)
    const signer = keySigner(requireKey({ key, env: process.env }))
    const chainId = await chainIdOf(readNetwork(network))
    const held = await exportReadingKey(signer, { chainId, generation })
    writeReadingKeyFile(file, held)
    const shown = shownCard(cardOf(held))
    printResult({ file, ...shown }, json, [
      `wrote ${file}: reading key of ${shown.user}, generation ${generation}`,
    ])
  },
})
