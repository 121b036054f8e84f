import { isRunnelError } from '@runnel/protocol'
import { hideBin } from 'yargs/helpers'
import { commandLine } from '../../sim/src/cli/command-line.ts'
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
  const line = commandLine(argv, {
    name: 'bench',
    usage: '<benchmark>\n\nEach prints its figures and those of a baseline from the same run.',
    refusal: (message) => benchError('INVALID_ARGUMENT', message),
  })
  for (const bench of benches) line.add(bench)
  // Its words are also those of a benchmark.
  line.add(profileCommand(benches, argv), false)
  await line.run()
} catch (error) {
  endWith(error)
}
process.exit(0)
