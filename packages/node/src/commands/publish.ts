import { defineCommand } from '../cli/command.ts'
import { userOptions } from '../cli/common-options.ts'
import { errorLine } from '../cli/describe-error.ts'
import { notice, printResult } from '../cli/output.ts'
import { standardInput } from '../cli/standard-input.ts'
import { listenForStop } from '../cli/stop-signal.ts'
import { streamArgument, streamPositional } from '../cli/stream-argument.ts'
import { withClient } from '../cli/with-client.ts'
import { publishLines, type PublishedLines } from './publish-lines.ts'

export const publish = defineCommand({
  name: 'publish',
  describe: 'Publish the lines of standard input',
  positionals: { stream: streamPositional },
  options: {
    ...userOptions,
    text: { type: 'boolean', default: false, describe: 'Lines are plain text rather than JSON' },
    'partition-key': {
      type: 'string',
      requiresArg: true,
      describe: 'Field whose value chooses the partition: same value, same partition',
    },
    'skip-invalid': { type: 'boolean', default: false, describe: 'Report bad lines and go on with the next' },
  },
  examples: [
    [`publish 0xowner/lobby --network .runnel/up/network.json <<< '{"hello":"world"}'`, 'One message'],
    [
      'publish 0xowner/log --text --network network.json --key my.key < app.log',
      'A message for each line of a file',
    ],
  ],
  epilogue:
    'Each line is one message. At the first line that is no JSON (or too large) the lines before it are published and the command ends with 65; with --skip-invalid it goes on, and ends with 0.',
  run: async ({
    stream,
    text,
    'partition-key': partitionKey,
    'skip-invalid': skipInvalid,
    json,
    ...network
  }) => {
    const streamOf = streamArgument(stream)
    const stop = listenForStop()
    await withClient(network, {}, async (client, trackers) => {
      const streamId = streamOf(client)
      const result = await publishLines(client, standardInput(stop.signal), {
        ...{ streamId, text, partitionKey, skipInvalid, signal: stop.signal },
        onInvalid: (error) => notice(errorLine(error)),
      })
      if (result.alone > 0) trackers.requireReached()
      if (json) printResult(result, true, [])
      else notice(describeResult(result))
    })
    stop.release()
  },
})

function describeResult({ published, skipped, alone }: PublishedLines): string {
  const remarks = [
    ...(skipped > 0 ? [`skipped ${skipped}`] : []),
    ...(alone > 0 ? [`${alone} went to nobody: nobody else is on the stream`] : []),
  ]
  return [`published ${published}`, ...remarks].join(', ')
}
