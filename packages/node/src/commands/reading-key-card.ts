import { exportReadingKey, keySigner, readReadingKeyFile, type ReadingKeyConfig } from '@runnel/client'
import { encodeCard, toBase64Url } from '@runnel/protocol'
import { defineCommand } from '../cli/command.ts'
import { networkOptions } from '../cli/common-options.ts'
import { readNetwork } from '../cli/network-source.ts'
import { notice, printResult } from '../cli/output.ts'
import { chainIdOf } from '../cli/with-chain.ts'
import { withClient } from '../cli/with-client.ts'
import { nodeError } from '../errors.ts'
import { cardOf, checkGeneration, shownCard } from '../keys/reading-keys.ts'
import { requireKey } from '../keys/resolve-key.ts'
import { generationOption } from './reading-key-options.ts'

export const readingKeyCard = defineCommand({
  name: 'reading-key card',
  describe: 'Print the card that others need to encrypt for a user, as text; its fingerprint goes to stderr',
  options: {
    ...networkOptions,
    ...generationOption,
    'reading-key': {
      type: 'string',
      describe: 'Print the card in this file instead of a new one',
    },
    publish: {
      type: 'boolean',
      conflicts: 'reading-key',
      describe: 'Store it on storage nodes, so that whoever grants you a permission needs no file',
    },
  },
  examples: [
    ['reading-key card --network network.json --key my.key', 'A card of my.key, signed now'],
    ['reading-key card --reading-key server.reading-key', 'The card in a reading key file'],
    ['reading-key card --publish --network network.json --key my.key', 'Also stores it on storage nodes'],
  ],
  epilogue:
    'A card is not secret. Whoever gets it from you should compare its fingerprint with you over another channel. Without --publish, nothing is sent to the network, but it is asked for its chain id if the network file has none. Storage nodes get your card anyway when you first read something encrypted.',
  run: async ({ 'reading-key': file, publish, generation, network, key, json }) => {
    if (checkGeneration(generation) > 0 && publish === true)
      throw nodeError('USAGE', '--publish stores the card that is in use: it takes no --generation')
    const signed = async (): Promise<ReadingKeyConfig> => {
      const signer = keySigner(requireKey({ key, env: process.env }))
      return exportReadingKey(signer, { chainId: await chainIdOf(readNetwork(network)), generation })
    }
    const published = () => withClient({ network, key }, { needsKey: true }, (client) => client.ensureCard())
    const made = async () => cardOf(file === undefined ? await signed() : readReadingKeyFile(file))
    const card = publish === true ? await published() : await made()
    const [text, shown] = [toBase64Url(encodeCard(card)), shownCard(card)]
    printResult({ card: text, ...shown }, json, [text])
    if (!json) notice(`card of ${shown.user}, generation ${shown.generation}: ${shown.fingerprint}`)
  },
})
