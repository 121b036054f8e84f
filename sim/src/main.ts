import yargs from 'yargs'
import { hideBin } from 'yargs/helpers'
import { lossCommand } from './cli/loss-command.ts'

await yargs(hideBin(process.argv))
  .scriptName('sim')
  .usage('$0 <scenario>\n\nRuns production nodes and trackers in virtual time and prints what came of it.')
  .command(lossCommand)
  .demandCommand(1, 'Name a scenario.')
  .strict()
  .parseAsync()
