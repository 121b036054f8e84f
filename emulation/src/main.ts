import { isRunnelError } from '@runnel/protocol'
import yargs from 'yargs'
import { hideBin } from 'yargs/helpers'
import { abortOnSignals } from './cli/abort-on-signals.ts'
import { experimentCommand } from './cli/experiment-command.ts'
import { refuse } from './cli/refuse.ts'
import { refuseRepeated } from './cli/refuse-repeated.ts'
import { churn } from './experiments/churn.ts'
import { delays } from './experiments/delays.ts'
import { loss } from './experiments/loss.ts'
import { propagation } from './experiments/propagation.ts'
import { redundancy } from './experiments/redundancy.ts'
import { firstCommands } from './first/first-commands.ts'
import { mediaGlassCommand } from './media/glass/media-glass-command.ts'
import { mediaLinkCommand } from './media/link/media-link-command.ts'
import { mediaCommand } from './media/room/media-command.ts'
import { natCommand } from './nat/nat-command.ts'
import { sessionsCommand } from './sessions/sessions-command.ts'
import { sessionsCostCommand } from './sessions/sessions-cost-command.ts'
import { soakCommand } from './soak/soak-command.ts'

const stop = new AbortController()
abortOnSignals(stop)

const parser = yargs(hideBin(process.argv))
  .scriptName('emulate')
  .usage('$0 <experiment>\n\nRuns real processes on emulated or real networks and prints what came of it.')
for (const experiment of [propagation, loss, redundancy, churn, delays])
  parser.command(experimentCommand(experiment, stop.signal))
parser.command(mediaCommand(stop.signal))
parser.command(mediaLinkCommand(stop.signal))
parser.command(mediaGlassCommand(stop.signal))
for (const command of firstCommands(stop.signal)) parser.command(command)
parser.command(natCommand(stop.signal))
parser.command(sessionsCommand(stop.signal))
parser.command(sessionsCostCommand(stop.signal))
parser.command(soakCommand(stop.signal))

try {
  await parser
    .demandCommand(1, 'Name an experiment.')
    .strict()
    .check(refuseRepeated)
    .fail(refuse)
    .parseAsync()
} catch (error) {
  if (!isRunnelError(error)) throw error
  process.stderr.write(`${error.code}: ${error.message}\n${error.remedy}\n`)
  process.exitCode = error.code === 'INVALID_ARGUMENT' ? 64 : 1
}
