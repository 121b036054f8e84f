import { benchCommand } from './bench-command.ts'
import { benchError } from '../errors.ts'
import { count } from './counts.ts'

/** What applications do with a client. */
export const clientCommands = [
  benchCommand(
    'publish',
    {
      about:
        'messages a second from an application to a subscriber in another process, in each way to publish',
      options: { messages: count(100_000) },
      limitS: 120,
    },
    async ({ messages, limitS }) =>
      (await import('../publish/publish-bench.ts')).publishBench({ messages, limitS }),
  ),
  benchCommand(
    'program',
    {
      about: 'wall time of runnel --version and of runnel publish with one message, against node -e 0',
      options: {
        runs: count(10),
        network: {
          type: 'string' as const,
          describe:
            'file of a network that runs, such as that of runnel up; default: a small one without a chain',
        },
        stream: { type: 'string' as const, describe: 'of that network, which everybody may use' },
      },
      limitS: 120,
    },
    async ({ runs, network, stream }) => {
      if (network === undefined && stream === undefined)
        return (await import('../program/program-bench.ts')).programBench({ runs })
      if (network === undefined || stream === undefined)
        throw benchError('INVALID_ARGUMENT', '--network and --stream go together')
      return (await import('../program/program-bench.ts')).programBench({
        runs,
        place: { networkFile: network, streamId: stream },
      })
    },
  ),
  benchCommand(
    'delegation',
    {
      about:
        'what it costs that delegates sign for users and nodes act for them, against users that do so themselves',
      options: {
        transport: { choices: ['websocket', 'webrtc'] as const, default: 'websocket' as const },
        nodes: count(12),
        messages: count(10_000, 'of each run; a tenth one a batch'),
        rounds: count(15, 'pairs of runs'),
        joins: count(100, 'pairs of nodes that join'),
        delegations: count(10_000, 'remembered by one node'),
      },
      limitS: 600,
    },
    async ({ transport, nodes, messages, rounds, joins, delegations }) =>
      (await import('../delegation/delegation-bench.ts')).delegationBench({
        transport,
        nodes,
        messages,
        rounds,
        joins,
        delegations,
      }),
  ),
  benchCommand(
    'encryption',
    {
      about:
        'what end-to-end encryption costs: CPU, bytes, the way from a grant to the first line, and until a revoked reader is blind',
      options: {
        messages: count(32_768, 'of each round; a multiple of 16,384'),
        readers: count(10_000, 'with cards, of one stream'),
        grants: count(40, 'to readers, in new streams'),
        revocations: count(40),
        rate: count(100, 'messages a second in each of two streams'),
      },
      limitS: 1_200,
    },
    async ({ messages, readers, grants, revocations, rate }, tell) => {
      if (messages % 16_384 !== 0)
        throw benchError(
          'INVALID_ARGUMENT',
          '--messages is a multiple of 16384: batches are of several sizes',
        )
      const ended = (text: string): void => void process.stderr.write(`${text}\n`)
      return (await import('../encryption/encryption-bench.ts')).encryptionBench(
        { messages, readers, grants, revocations, ratePerS: rate },
        tell,
        ended,
      )
    },
  ),
  benchCommand(
    'last',
    {
      about: 'how long the newest message of a key takes from a neighbour, against a ping of the same links',
      options: {
        members: count(8, 'nodes that keep the values'),
        keys: count(1_000),
        joins: count(40, 'nodes that come later and ask'),
      },
      limitS: 120,
    },
    async ({ members, keys, joins, limitS }) =>
      (await import('../last/last-bench.ts')).lastBench({ members, keys, joins, limitS }),
  ),
  benchCommand(
    'request',
    {
      about:
        'time from a request to its reply among some nodes, beside the way of a message through the same overlay',
      options: {
        nodes: count(8),
        overlays: count(5, 'drawn one after the other; the median counts'),
        requests: count(200, 'in each overlay'),
      },
      limitS: 180,
    },
    async ({ nodes, overlays, requests, limitS }) =>
      (await import('../request/request-bench.ts')).requestBench({ nodes, overlays, requests, limitS }),
  ),
  benchCommand(
    'reader',
    {
      about:
        'messages a second to a durable reader that acknowledges each, beside a plain subscription; its cursor, and how long a lost share waits',
      options: { messages: count(50_000), publishers: count(4) },
      limitS: 180,
    },
    async ({ messages, publishers, limitS }) =>
      (await import('../reader/reader-bench.ts')).readerBench({ messages, publishers, limitS }),
  ),
]
