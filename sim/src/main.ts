import { isRunnelError } from '@runnel/protocol'
import yargs from 'yargs'
import { hideBin } from 'yargs/helpers'
import { decodersCommand } from './cli/decoders-command.ts'
import { experimentCommand } from './cli/experiment-command.ts'
import { fuzzCommand } from './cli/fuzz-command.ts'
import { identitiesCommand } from './cli/identities-command.ts'
import { lossCommand } from './cli/loss-command.ts'
import { placementCommand } from './cli/placement-command.ts'
import { rateCommand } from './cli/rate-command.ts'
import { refuseRepeated } from './cli/refuse-repeated.ts'
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

const parser = yargs(hideBin(process.argv))
  .scriptName('sim')
  .usage('$0 <experiment>\n\nRuns production nodes and trackers in virtual time and prints what came of it.')
  .command(lossCommand)
  .command(reportCommand)
  .command(fuzzCommand)
  .command(decodersCommand)
  .command(placementCommand)
  .command(identitiesCommand)
  .command(rateCommand)
  .command(roomCommand)
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
  parser.command(experimentCommand(experiment))

try {
  await parser
    .demandCommand(1, 'Name an experiment.')
    .strict()
    .check(refuseRepeated)
    .fail((message, error) => {
      throw error ?? simError('INVALID_ARGUMENT', message)
    })
    .parseAsync()
} catch (error) {
  if (!isRunnelError(error)) throw error
  process.stderr.write(`${error.code}: ${error.message}\n${error.remedy}\n`)
  process.exitCode = error.code === 'INVALID_ARGUMENT' ? 64 : 1
}
