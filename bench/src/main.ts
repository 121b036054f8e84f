import yargs from 'yargs'
import { hideBin } from 'yargs/helpers'
import { clientCommands } from './commands/clients.ts'
import { gatewayCommands } from './commands/gateways.ts'
import { nodeCommands } from './commands/nodes.ts'
import { pageCommands } from './commands/pages.ts'
import { peerCommands } from './commands/peers.ts'
import { profileCommand } from './commands/profile.ts'
import { serverCommands } from './commands/servers.ts'

const argv = hideBin(process.argv)
const benches = [
  ...nodeCommands,
  ...clientCommands,
  ...gatewayCommands,
  ...pageCommands,
  ...serverCommands,
  ...peerCommands,
]

await yargs(argv)
  .scriptName('bench')
  .usage('$0 <benchmark>\n\nEach prints its figures and those of a baseline from the same run.')
  .command([...benches, profileCommand(benches, argv)])
  .demandCommand(1, 'Name a benchmark.')
  .showHelpOnFail(false)
  .strict()
  .parseAsync()
process.exit(0)
