import { benchError } from '../errors.ts'
import { benchCommand } from './bench-command.ts'
import { count } from './counts.ts'

/** Other systems. */
export const peerCommands = [
  benchCommand(
    'peers',
    {
      about:
        'the same work for Runnel, libp2p, Streamr, NATS and MQTT brokers by turns; installs them into .tools/',
      options: {
        only: {
          type: 'array' as const,
          string: true as const,
          default: [] as string[],
          describe: 'only systems whose names begin with this; may be repeated',
        },
        nodes: count(16, 'of which one publishes and the others subscribe', { min: 2 }),
        rounds: count(3, 'of which the median counts'),
        seconds: count(2, 'of each load'),
        rate: count(100, 'messages a second of the paced load'),
        joins: count(2, 'nodes that join, in each round'),
        write: {
          type: 'boolean' as const,
          default: false,
          describe: 'write docs/COMPARISON.md and its picture',
        },
      },
      limitS: 1_500,
    },
    async ({ only, nodes, rounds, seconds, rate, joins, write, limitS }, tell) => {
      if (write && only.length > 0)
        throw benchError(
          'INVALID_ARGUMENT',
          '--write is for all systems, without --only: the page compares them',
        )
      const options = { only: only.map(String), nodes, rounds, seconds, perS: rate, joins }
      // What is begun in time may end in the last seconds.
      const { peersBench } = await import('../peers/peers-bench.ts')
      const report = await peersBench({ ...options, limitS: 0.95 * limitS }, tell)
      if (write) {
        const { writeComparison } = await import('../peers/write-comparison.ts')
        await writeComparison(report)
      }
      return report
    },
  ),
]
