import { readReadingKeyFile } from '@runnel/client'
import { defineCommand } from '../cli/command.ts'
import { printResult } from '../cli/output.ts'
import { cardOf, shownCard } from '../keys/reading-keys.ts'

export const readingKeyShow = defineCommand({
  name: 'reading-key show',
  describe: 'Print the user and the card of a reading key file; never the key itself',
  positionals: { file: { describe: 'Reading key file', required: true } },
  examples: [['reading-key show server.reading-key', 'Its user and generation']],
  run: async ({ file, json }) => {
    const held = readReadingKeyFile(file)
    const { userId: user, generation } = held
    const card = held.card === undefined ? undefined : shownCard(cardOf(held))
    printResult({ file, user, generation, card }, json, [
      file,
      `  user         ${user}`,
      `  generation   ${generation}`,
      ...(card === undefined
        ? ['  card         none']
        : [
            `  card signed  ${card.date}`,
            `  chain        ${card.chainId}`,
            `  fingerprint  ${card.fingerprint}`,
          ]),
    ])
  },
})
