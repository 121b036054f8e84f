import { defineCommand } from '../cli/command.ts'
import { networkOptions } from '../cli/common-options.ts'
import { printResult } from '../cli/output.ts'
import { withClient } from '../cli/with-client.ts'
import { shownCard } from '../keys/reading-keys.ts'

export const readingKeyRotate = defineCommand({
  name: 'reading-key rotate',
  describe: 'Replace the reading key of your key, for example because it was stolen',
  options: networkOptions,
  examples: [['reading-key rotate --network network.json --key my.key', 'Prints the new generation']],
  epilogue:
    'The card of the next generation goes to the storage nodes; others use it from their next epoch on. Older messages stay readable with the old reading key. Servers that have a reading key file need the new one: runnel reading-key export FILE --generation N.',
  run: async ({ json, ...network }) => {
    await withClient(network, { needsKey: true }, async (client) => {
      const shown = shownCard(await client.renewReadingKey())
      printResult(shown, json, [`${shown.user} reads with generation ${shown.generation} from now on`])
    })
  },
})
