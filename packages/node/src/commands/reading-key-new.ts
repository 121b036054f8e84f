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
  describe:
    'Make a reading key for a user whose signatures cannot make one: a contract account, some signers',
  positionals: { file: { describe: 'File to write; an existing file is never overwritten', required: true } },
  options: {
    user: { type: 'string', describe: 'Address of the user' },
    ...generationOption,
  },
  examples: [
    ['reading-key new safe.reading-key --user 0x5b38…ddc4', 'The first reading key of a contract account'],
    ['reading-key new safe-1.reading-key --user 0x5b38…ddc4 --generation 1', 'A new one to replace it'],
  ],
  epilogue:
    'Keep a copy in a safe place: nothing else decrypts what is encrypted for it. It comes into use once the user has signed a card for it. A client with the user’s signer and this file asks for that signature.',
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
