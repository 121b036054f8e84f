import { isRunnelError } from '@runnel/protocol'
import { commandLine } from '@runnel/sim/command-line'
import { hideBin } from 'yargs/helpers'
import { abortOnSignals } from './cli/abort-on-signals.ts'
import { experimentCommand } from './cli/experiment-command.ts'
import { emulationError } from './errors.ts'
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

const line = commandLine(hideBin(process.argv), {
  name: 'emulate',
  usage: '<experiment>\n\nRuns real processes on emulated or real networks and prints what came of it.',
  refusal: (message) => emulationError('INVALID_ARGUMENT', message),
})
for (const experiment of [propagation, loss, redundancy, churn, delays])
  line.add(experimentCommand(experiment, stop.signal))
line.add(mediaCommand(stop.signal))
line.add(mediaLinkCommand(stop.signal))
line.add(mediaGlassCommand(stop.signal))
for (const command of firstCommands(stop.signal)) line.add(command)
line.add(natCommand(stop.signal))
line.add(sessionsCommand(stop.signal))
line.add(sessionsCostCommand(stop.signal))
line.add(soakCommand(stop.signal))

try {
  await line.run()
} catch (error) {
  if (!isRunnelError(error)) throw error
  process.stderr.write(`${error.code}: ${error.message}\n${error.remedy}\n`)
  process.exitCode = error.code === 'INVALID_ARGUMENT' ? 64 : 1
}
