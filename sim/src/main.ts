import { isRunnelError } from '@runnel/protocol'
import { hideBin } from 'yargs/helpers'
import { commandLine } from './cli/command-line.ts'
import { decodersCommand } from './cli/decoders-command.ts'
import { experimentCommand } from './cli/experiment-command.ts'
import { fuzzCommand } from './cli/fuzz-command.ts'
import { identitiesCommand } from './cli/identities-command.ts'
import { lossCommand } from './cli/loss-command.ts'
import { placementCommand } from './cli/placement-command.ts'
import { rateCommand } from './cli/rate-command.ts'
import { roomCommand } from './cli/room-command.ts'
import { reportCommand } from './cli/report-command.ts'
import { simError } from './errors.ts'
import { attack } from './experiments/attack.ts'
import { churn } from './experiments/churn.ts'
import { compare } from './experiments/compare.ts'
import { copies } from './experiments/copies.ts'
import { diameter } from './experiments/diameter.ts'
import { fairness } from './experiments/fairness.ts'
import { matrix } from './experiments/matrix.ts'
import { propagation } from './experiments/propagation.ts'
import { redundancy } from './experiments/redundancy.ts'
import { scale, scaleModel } from './experiments/scale.ts'
import { lightViewers, viewers } from './experiments/viewers.ts'

const line = commandLine(hideBin(process.argv), {
  name: 'sim',
  usage: '<experiment>\n\nRuns production nodes and trackers in virtual time and prints what came of it.',
  refusal: (message) => simError('INVALID_ARGUMENT', message),
})
line.add(lossCommand)
line.add(reportCommand)
line.add(fuzzCommand)
line.add(decodersCommand)
line.add(placementCommand)
line.add(identitiesCommand)
line.add(rateCommand)
line.add(roomCommand)
for (const experiment of [
  matrix,
  diameter,
  redundancy,
  propagation,
  compare,
  copies,
  viewers,
  lightViewers,
  scale,
  scaleModel,
  churn,
  attack,
  fairness,
])
  line.add(experimentCommand(experiment))

try {
  await line.run()
} catch (error) {
  if (!isRunnelError(error)) throw error
  process.stderr.write(`${error.code}: ${error.message}\n${error.remedy}\n`)
  process.exitCode = error.code === 'INVALID_ARGUMENT' ? 64 : 1
}
