import { writeReadingKeyFile } from '@runnel/client'
import { toHex, toNodeId } from '@runnel/protocol'
import { systemRandom } from '@runnel/protocol/system'
import { defineCommand } from '../cli/command.ts'
import { printResult } from '../cli/output.ts'
import { nodeError } from '../errors.ts'
import { checkGeneration } from '../keys/reading-keys.ts'
import { generationOption } from './reading-key-options.ts'

export const readingKeyNew = defineCommand({
  name: 'reading-key new',
  describe: 'Make a reading key for a user whose signatures make none: a contract account, some signers',
  positionals: { file: { describe: 'Where to write it; never overwritten', required: true } },
  options: {
    user: { type: 'string', requiresArg: true, describe: 'Address of the user' },
    ...generationOption,
  },
  examples: [
    ['reading-key new safe.reading-key --user 0x5b38…ddc4', 'The first reading key of a contract account'],
    ['reading-key new safe-1.reading-key --user 0x5b38…ddc4 --generation 1', 'One to replace it'],
  ],
  epilogue:
    'Keep a copy in a safe place: nothing else opens what is encrypted for it. It is in use once the user has signed a card for it, which a client with the user’s signer and this file asks for.',
  run: async ({ file, user, generation, json }) => {
    checkGeneration(generation)
    if (user === undefined) throw nodeError('USAGE', 'reading-key new takes --user ADDRESS')
    const userId = toNodeId(user)
    writeReadingKeyFile(file, { userId, generation, secret: toHex(systemRandom.bytes(32)) })
    printResult({ file, user: userId, generation }, json, [
      `wrote ${file}: reading key of ${userId}, generation ${generation}; keep a copy of it`,
    ])
  },
})
