import yargs from 'yargs'
import { hideBin } from 'yargs/helpers'
import { clientCommands } from './commands/clients.ts'
import { gatewayCommands } from './commands/gateways.ts'
import { nodeCommands } from './commands/nodes.ts'
import { pageCommands } from './commands/pages.ts'
import { peerCommands } from './commands/peers.ts'
import { serverCommands } from './commands/servers.ts'

await yargs(hideBin(process.argv))
  .scriptName('bench')
  .usage('$0 <benchmark>\n\nEach prints its figures and those of a baseline from the same run.')
  .command([
    ...nodeCommands,
    ...clientCommands,
    ...gatewayCommands,
    ...pageCommands,
    ...serverCommands,
    ...peerCommands,
  ])
  .demandCommand(1, 'Name a benchmark.')
  .showHelpOnFail(false)
  .strict()
  .parseAsync()
process.exit(0)
