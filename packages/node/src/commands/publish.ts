import type { MessageHeaders } from '@runnel/client'
import { networkLimits } from '@runnel/network'
import { defineCommand } from '../cli/command.ts'
import { memberOptions } from '../cli/common-options.ts'
import { errorLine } from '../cli/error-line.ts'
import { notice, printResult } from '../cli/output.ts'
import { Line, readLines } from '../cli/read-lines.ts'
import { standardInput } from '../cli/standard-input.ts'
import { listenForStop } from '../cli/stop-signal.ts'
import { streamArgument, streamPositional } from '../cli/stream-argument.ts'
import { withClient } from '../cli/with-client.ts'
import { nodeError } from '../errors.ts'
import { maxLineBytes, publishLines, type PublishedLines } from './publish-lines.ts'
import { urgentOf, urgentOptions } from './publish-urgent.ts'
import { openUrgentWay } from './urgent-way.ts'

export const publish = defineCommand({
  name: 'publish',
  describe: 'Publish messages: the arguments, or each line of standard input',
  positionals: {
    stream: streamPositional,
    messages: { describe: 'Messages, each a JSON value. Default: the lines of standard input', many: true },
  },
  options: {
    ...memberOptions,
    text: { type: 'boolean', default: false, describe: 'Messages are plain text, not JSON' },
    'partition-key': {
      type: 'string',
      describe: 'Field that selects the partition: the same value goes to the same partition',
    },
    'message-key': {
      type: 'string',
      conflicts: 'key-field',
      describe: 'Key of each message: runnel last and resend table give the newest message of each key',
    },
    'key-field': {
      type: 'string',
      describe: 'Field whose value is the key of the message',
    },
    header: {
      type: 'string',
      array: true,
      describe: 'name=value, sent, signed and encrypted with each message; may be repeated',
    },
    ...urgentOptions,
    'skip-invalid': {
      type: 'boolean',
      default: false,
      describe: 'Report invalid lines and continue with the next',
    },
  },
  examples: [
    [`publish 0xowner/lobby '{"hello":"world"}' --network network.json`, 'One message'],
    ['publish /lobby hello --text --network network.json --key my.key', 'Text, to a stream of your own'],
    [
      'publish 0xowner/log --text --network network.json --key my.key < app.log',
      'A message for each line of a file',
    ],
    [
      './positions | runnel publish 0xowner/room --urgent --lifetime 300ms --network network.json',
      'Each line as it comes, worthless after 300 ms',
    ],
  ],
  epilogue:
    'Each argument, or each line of standard input, is one message. At the first line that is not JSON, or too large, the command publishes the lines before it and exits with 65. With --skip-invalid it continues, and exits with 0. With --urgent it waits for neighbours before the first message and up to a second after the last one, and says what it dropped.',
  run: async ({
    stream,
    messages,
    text,
    'partition-key': partitionKey,
    'message-key': key,
    'key-field': keyField,
    'skip-invalid': skipInvalid,
    header,
    json,
    urgent: isUrgent,
    lifetime,
    priority,
    ...network
  }) => {
    const streamOf = streamArgument(stream)
    const keys = { 'message-key': key, 'key-field': keyField }
    const urgent = urgentOf({ urgent: isUrgent, lifetime, priority, ...keys })
    const headers = header && headersOf(header)
    const stop = listenForStop()
    const given = messages.length > 0
    if (!given && process.stdin.isTTY) notice(howToType(text))
    await withClient(network, {}, async (client, trackers, clock) => {
      const streamId = streamOf(client)
      const lines = given ? linesOf(messages) : readLines(standardInput(stop.signal), maxLineBytes)
      const { signal } = stop
      const way = urgent && (await openUrgentWay(client, { streamId, urgent, signal }))
      const result = await publishLines(client, lines, {
        ...{ streamId, text, partitionKey, key, keyField, headers, way, skipInvalid, signal },
        unit: given ? 'message' : 'line',
        onInvalid: (error) => notice(errorLine(error)),
      })
      await clock.requireAccepted()
      if (result.alone > 0) trackers.requireReached()
      if (json) printResult(result, true, [])
      else notice(describeResult(result))
    })
    stop.release()
  },
})

/** Of `name=value`. Throws USAGE for what is none. */
function headersOf(options: readonly string[]): MessageHeaders {
  return Object.fromEntries(
    options.map((option) => {
      const at = option.indexOf('=')
      if (at < 1) throw nodeError('USAGE', `--header takes name=value, not "${option}"`)
      return [option.slice(0, at), option.slice(at + 1)]
    }),
  )
}

/** At a terminal the command waits for what is typed. */
function howToType(text: boolean): string {
  return `type ${text ? 'messages' : 'JSON messages (text: --text)'}, one per line; Ctrl-D ends`
}

async function* linesOf(messages: readonly string[]): AsyncGenerator<Line> {
  for (const [index, text] of messages.entries()) {
    const bytes = Buffer.from(text)
    yield new Line(index + 1, bytes.length > maxLineBytes ? undefined : bytes)
  }
}

const { maxUrgentPerS, maxUrgentBytesPerS } = networkLimits
const shareMbitPerS = Math.floor((8 * maxUrgentBytesPerS) / 1e6)

function describeResult({ published, skipped, alone, dropped }: PublishedLines): string {
  const { overShare = 0, late = 0, replaced = 0, shed = 0, refused = 0 } = dropped ?? {}
  const copies = late + replaced + shed + refused
  const remarks = [
    ...(overShare > 0
      ? [
          `${overShare} dropped: more than ${maxUrgentPerS} a second, or ${shareMbitPerS} Mbit/s, of urgent messages in a partition`,
        ]
      : []),
    ...(copies > 0 ? [`${copies} copies dropped that links had no time for`] : []),
    ...(skipped > 0 ? [`skipped ${skipped}`] : []),
    ...(alone > 0 ? [`${alone} reached nobody: nobody else is in the stream`] : []),
  ]
  return [`published ${published}`, ...remarks].join(', ')
}
