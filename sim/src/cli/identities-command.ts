import { limits } from '@runnel/protocol'
import type { CommandModule } from 'yargs'
import { simError } from '../errors.ts'
import { runIdentities, type IdentitiesReport } from '../scenarios/identities/identities-run.ts'
import { runPrivate } from '../scenarios/identities/private-run.ts'
import { wholeNumbers } from './arguments.ts'
import { showProgress } from './progress.ts'
import { beginBound, minutesOption } from './time-bound.ts'

interface IdentitiesArguments {
  readonly processes: number
  readonly identities: number
  readonly users: number
  readonly publishers: number
  readonly guests: number
  readonly degree: number
  readonly seed: string
  readonly minutes: number
  readonly json: boolean
}

export const identitiesCommand: CommandModule<object, IdentitiesArguments> = {
  command: 'identities',
  describe:
    'many processes of one identity, and many identities of one process each: deliveries, checks of delegations, shares of others',
  builder: {
    processes: { type: 'number', default: 1_000, describe: 'of one identity' },
    identities: { type: 'number', default: 10_000, describe: 'with one process each' },
    users: { type: 'number', default: 60, describe: 'of a private network, each with one node too many' },
    publishers: { type: 'number', default: 20, describe: 'of the processes' },
    guests: {
      type: 'number',
      default: 50,
      describe: 'processes of others that come when the one identity fills the tables',
    },
    degree: { type: 'number', default: 4, describe: 'neighbours per node' },
    seed: { type: 'string', default: '1', describe: 'same seed, same run' },
    ...minutesOption(240),
    json: { type: 'boolean', default: false, describe: 'one line of JSON' },
  },
  handler: async ({ processes, identities, users, publishers, guests, degree, seed, minutes, json }) => {
    wholeNumbers({ processes, identities, users, publishers, guests, degree }, 200_000)
    if (publishers > Math.min(processes, identities))
      throw simError('INVALID_ARGUMENT', '--publishers is no more than --processes and --identities')
    const onProgress = beginBound({ minutes })
    const common = { seed, degree, publishers }
    const report = {
      one: await runIdentities({ ...common, processes, identities: 'one', guests }, onProgress),
      each: await runIdentities(
        { ...common, processes: identities, identities: 'each', guests: 0 },
        onProgress,
      ),
      private: await runPrivate({ seed, degree, users }, onProgress),
    }
    showProgress('')
    process.stdout.write(`${JSON.stringify(report, null, json ? 0 : 2)}\n`)
    const others = report.one.guests
    const areServed = others.placed === guests && others.delivered === others.expected
    const isLimited = report.private.mostOfUser <= limits.maxNodesOfUser
    process.exitCode = isSound(report.one) && isSound(report.each) && areServed && isLimited ? 0 : 1
  },
}

/** Everything came once, and nobody checked a delegation twice. */
function isSound({ expected, delivered, deliveredAgain, mostChecksOfOne }: IdentitiesReport): boolean {
  return delivered === expected && deliveredAgain === 0 && mostChecksOfOne === 1
}
