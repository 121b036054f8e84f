import { isRunnelError } from '@runnel/protocol'
import yargs from 'yargs'
import { hideBin } from 'yargs/helpers'
import { clientCommands } from './commands/clients.ts'
import { gatewayCommands } from './commands/gateways.ts'
import { nodeCommands } from './commands/nodes.ts'
import { pageCommands } from './commands/pages.ts'
import { peerCommands } from './commands/peers.ts'
import { profileCommand } from './commands/profile.ts'
import { serverCommands } from './commands/servers.ts'
import { benchError } from './errors.ts'
import { openScratch } from './scratch.ts'

const argv = hideBin(process.argv)
const benches = [
  ...nodeCommands,
  ...clientCommands,
  ...gatewayCommands,
  ...pageCommands,
  ...serverCommands,
  ...peerCommands,
]

openScratch()
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(name, () => endWith(benchError('INTERRUPTED', name)))

/** Processes that were started end with this one. */
function endWith(error: unknown): never {
  if (isRunnelError(error)) process.stderr.write(`${error.code}: ${error.message}\n${error.remedy}\n`)
  else console.error(error)
  process.exit(isRunnelError(error, 'INVALID_ARGUMENT') ? 64 : 1)
}

try {
  await yargs(argv)
    .scriptName('bench')
    .usage('$0 <benchmark>\n\nEach prints its figures and those of a baseline from the same run.')
    .command([...benches, profileCommand(benches, argv)])
    .demandCommand(1, 'Name a benchmark.')
    .strict()
    .fail((message, error) => {
      throw error ?? benchError('INVALID_ARGUMENT', message.replace(/\s+/g, ' '))
    })
    .parseAsync()
} catch (error) {
  endWith(error)
}
process.exit(0)
