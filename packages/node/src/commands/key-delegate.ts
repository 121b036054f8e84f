import { rmSync } from 'node:fs'
import { exportReadingKey, keySigner, writeReadingKeyFile } from '@runnel/client'
import { toNodeId, type Delegation, type NodeId } from '@runnel/protocol'
import { defineCommand } from '../cli/command.ts'
import { networkOptions } from '../cli/common-options.ts'
import { readNetwork } from '../cli/network-source.ts'
import { notice, printResult } from '../cli/output.ts'
import { withProgram } from '../cli/program-name.ts'
import { chainIdOf } from '../cli/with-chain.ts'
import { nodeError } from '../errors.ts'
import {
  delegationText,
  makeDelegation,
  saveDelegation,
  savedLine,
  shownDelegation,
} from '../keys/delegations.ts'
import { nameKey, randomKey } from '../keys/key-file.ts'
import { checkGeneration } from '../keys/reading-keys.ts'
import { requireKey } from '../keys/resolve-key.ts'
import { parseTerms } from './delegation-terms.ts'

export const keyDelegate = defineCommand({
  name: 'key delegate',
  describe: 'Let another key publish and read for yours, for a limited time',
  options: {
    ...networkOptions,
    out: {
      type: 'string',
      describe: 'Delegation file to write, with a new key in it; an existing file is never overwritten',
    },
    to: {
      type: 'string',
      conflicts: 'out',
      describe:
        'Instead of --out: address of a key made elsewhere. Prints the delegation, for runnel key accept',
    },
    streams: {
      type: 'string',
      describe: 'Only for these streams: id,id (at most 8); /path is a stream of your own',
    },
    rights: { type: 'string', default: 'publish,read', describe: 'What it may do' },
    for: { type: 'string', default: '30d', describe: 'How long it lasts, from now' },
    'with-reading-key': {
      type: 'string',
      describe: 'Also write your reading key, which decrypts what is encrypted for you, to this file',
    },
    generation: {
      type: 'number',
      implies: 'with-reading-key',
      describe: 'Generation of the reading key; runnel reading-key rotate prints the newest. Default: 0',
    },
    label: {
      type: 'string',
      default: 'runnel key delegate',
      describe: 'Purpose, in ASCII; everybody can read it',
    },
  },
  examples: [
    [
      'key delegate --out server.delegation --network network.json --key my.key',
      'A server with that file acts for my.key for 30 days; my.key stays here',
    ],
    [
      'key delegate --to 0x5b38…ddc4 --streams 0xowner/log --rights publish --for 24h --network network.json --key my.key',
      'The key never leaves the server; it may publish to one stream, until tomorrow',
    ],
  ],
  epilogue:
    'Sends nothing to the network, but asks it for its chain id if the network file has none. A delegation for all streams lasts at most 92 days, one for named streams at most 366. Its holder cannot sign transactions, so it cannot create streams or grant permissions. Revoke it with: runnel key revoke. A reading key cannot be revoked, only renewed for later messages: runnel reading-key rotate.',
  run: async ({ out, to, network, key, json, generation, 'with-reading-key': readingKeyFile, ...args }) => {
    if (generation !== undefined) checkGeneration(generation)
    const delegateTo = async (delegateId: NodeId, save?: (delegation: Delegation) => void) => {
      const userKey = requireKey({ key, env: process.env })
      const { nodeId: userId } = await nameKey(userKey)
      const terms = parseTerms(args, userId, Date.now())
      if (terms.reads && readingKeyFile === undefined)
        notice(
          withProgram(
            'without a reading key, the delegate cannot decrypt: give --with-reading-key FILE, or later run: runnel reading-key export FILE',
          ),
        )
      const chainId = await chainIdOf(readNetwork(network))
      const delegation = await makeDelegation(userKey, { ...terms, chainId, delegateId })
      if (readingKeyFile !== undefined)
        writeReadingKeyFile(
          readingKeyFile,
          await exportReadingKey(keySigner(userKey), { chainId, generation }),
        )
      try {
        save?.(delegation)
      } catch (error) {
        // It would be in the way of the next try.
        if (readingKeyFile !== undefined) rmSync(readingKeyFile)
        throw error
      }
      return delegation
    }
    if (out !== undefined) {
      const { privateKey, nodeId } = await nameKey(randomKey())
      const delegation = await delegateTo(nodeId, (made) => saveDelegation(out, privateKey, made))
      printResult({ file: out, ...shownDelegation(delegation) }, json, [savedLine(out, delegation)])
    } else if (to !== undefined) {
      const delegation = await delegateTo(toNodeId(to))
      const text = delegationText(delegation)
      printResult({ delegation: text, ...shownDelegation(delegation) }, json, [text])
    } else throw nodeError('USAGE', 'key delegate takes --out FILE for a new key, or --to ADDRESS')
  },
})
