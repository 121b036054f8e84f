import { defineCommand } from '../cli/command.ts'
import { memberOptions } from '../cli/common-options.ts'
import { parseDurationMs } from '../cli/duration.ts'
import { notice, standardOutput } from '../cli/output.ts'
import { listenForStop } from '../cli/stop-signal.ts'
import { tellOfEnd } from '../cli/tell-of-end.ts'
import { streamsArgument, streamsPositional } from '../cli/stream-argument.ts'
import { tellOfPrefix } from '../cli/tell-of-prefix.ts'
import { withClient } from '../cli/with-client.ts'
import { nodeError } from '../errors.ts'
import { formatMessage } from './format-message.ts'
import { formatOptions, historyOf } from './resend-options.ts'
import { readDurably, readerStart, requireReaderOptions } from './subscribe-reader.ts'

/** How long finding neighbours may take before a person is told that there are none. */
const aloneMs = 2_000

export const subscribe = defineCommand({
  name: 'subscribe',
  describe: 'Print the messages of a stream, one JSON value per line',
  positionals: { stream: streamsPositional },
  options: {
    ...memberOptions,
    count: { type: 'number', describe: 'Stop after this many messages' },
    for: { type: 'string', describe: 'Stop after this time, such as 10s' },
    last: {
      type: 'string',
      conflicts: 'from',
      describe: 'Start with this many stored messages',
    },
    from: {
      type: 'string',
      describe: 'Start with messages stored since a time: ISO 8601, Unix milliseconds, or -10m',
    },
    partition: {
      type: 'number',
      array: true,
      describe: 'Only this partition; may be repeated. Default: all',
    },
    urgent: {
      type: 'boolean',
      describe: 'Also print urgent messages, as they come; with --meta with their lifetime and priority',
    },
    reader: {
      type: 'string',
      describe: 'Continue where the reader of this name stopped; storage nodes keep its position',
    },
    group: {
      type: 'boolean',
      describe: 'Share the messages with other processes that read under the same name',
    },
    start: {
      type: 'string',
      describe: 'Where a new reader starts: first (default), new, or a time',
    },
    ...formatOptions,
  },
  examples: [
    ['subscribe 0xowner/lobby --network network.json', 'Until Ctrl-C'],
    ['subscribe 0xowner/system/cpu --network network.json --count 3 --meta', 'Three messages with their ids'],
    [
      "subscribe '0xowner/rooms/#' --network network.json",
      'All streams below, including later ones, with their ids',
    ],
    ['subscribe 0xowner/lobby --network network.json --last 100', 'The last hundred messages, then new ones'],
    ['subscribe 0xowner/room --network network.json --urgent', 'Also those that are worth nothing late'],
    [
      'subscribe 0xowner/jobs --reader billing --group --key my.key',
      'A share of the jobs, each at least once',
    ],
  ],
  epilogue:
    'Prints messages from now on; with --last or --from, first those from storage nodes, without a gap in between. For 0xowner/path/# it prints {"streamId": …, "content": …}. Bytes are printed as {"base64": …}. With --reader, a message is done once its line is written; others are printed again next time. Exits with 0 on SIGINT, or when its output is closed.',
  run: async (args) => {
    const {
      stream,
      count,
      for: duration,
      last,
      from,
      partition,
      urgent,
      reader,
      group = false,
      start,
      raw = false,
      meta = false,
      ...network
    } = args
    const streamOf = streamsArgument(stream)
    const isPrefix = stream.endsWith('/#')
    if (count !== undefined && !(Number.isSafeInteger(count) && count > 0)) {
      throw nodeError('USAGE', '--count takes a whole number from 1')
    }
    const durationMs = duration === undefined ? undefined : parseDurationMs(duration, 'for')
    const resend = historyOf(last, from)
    requireReaderOptions(reader, { group, start, others: [last, from, partition, urgent] })
    const begin = readerStart(start ?? 'first')
    const stop = listenForStop()
    const output = standardOutput()
    await withClient(network, { needsUser: reader !== undefined }, async (client, trackers) => {
      const streamId = streamOf(client)
      void tellOfEnd(client)
      if (isPrefix) void tellOfPrefix(client)
      if (reader !== undefined) {
        const how = { name: reader, group, start: begin, raw, meta, count, durationMs, signal: stop.signal }
        const done = await readDurably(client, streamId, how, output)
        if (done === 0 && !stop.signal.aborted) trackers.requireReached()
        return
      }
      let missing = 0
      const subscription = await client.subscribe(streamId, {
        ...{ raw, resend, partitions: partition, urgent },
        onGap: () => missing++,
      })
      const end = () => void subscription.unsubscribe()
      void stop.stopped.then(end)
      void output.closed.then(end)
      const timer = durationMs === undefined ? undefined : setTimeout(end, durationMs)
      const isSomewhere = subscription.streamPartIds.length > 0
      const alone = setTimeout(() => notice(`listening to ${streamId}; nobody else is there yet`), aloneMs)
      subscription.waitForNeighbours({ signal: stop.signal }).then(
        () => (clearTimeout(alone), notice(`subscribed to ${streamId}`)),
        () => clearTimeout(alone),
      )
      let printed = 0
      try {
        for await (const message of subscription) {
          const bytes =
            raw && message.content instanceof Uint8Array
              ? message.content
              : formatMessage(message, meta, isPrefix)
          if (!(await output.write(bytes)) || ++printed === count) break
        }
      } finally {
        clearTimeout(timer)
        clearTimeout(alone)
      }
      if (printed === 0 && isSomewhere && !stop.signal.aborted) trackers.requireReached()
      const { dropped } = subscription.counters()
      if (missing > 0)
        notice(`${missing} gaps: neither neighbours nor storage nodes have the missing messages`)
      if (dropped > 0) notice(`${dropped} messages were dropped: the reader is slower than the stream`)
    })
    stop.release()
  },
})
