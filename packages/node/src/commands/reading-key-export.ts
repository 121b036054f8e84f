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
  describe: 'Write the reading key of a key file to a file, for a process that only has a delegation',
  positionals: { file: { describe: 'File to write; an existing file is never overwritten', required: true } },
  options: { ...networkOptions, ...generationOption },
  examples: [
    [
      'reading-key export server.reading-key --network network.json --key my.key',
      'A server with that file and a delegation can read what is encrypted for my.key',
    ],
  ],
  epilogue:
    'Whoever has the file can read everything that is encrypted for the user, even after the delegation has ended. runnel reading-key rotate renews the key for later messages. Sends nothing to the network, but asks it for its chain id if the network file has none.',
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
