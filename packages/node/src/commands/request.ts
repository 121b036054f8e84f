import { isRunnelError } from '@runnel/protocol'
import { defineCommand } from '../cli/command.ts'
import { memberOptions } from '../cli/common-options.ts'
import { parseDurationMs } from '../cli/duration.ts'
import { errorLine } from '../cli/error-line.ts'
import { notice, standardOutput } from '../cli/output.ts'
import { printableJson } from '../cli/printable.ts'
import { listenForStop } from '../cli/stop-signal.ts'
import { streamArgument, streamPositional } from '../cli/stream-argument.ts'
import { withClient } from '../cli/with-client.ts'
import { nodeError } from '../errors.ts'
import { printableContent } from '../cli/message-fields.ts'

export const request = defineCommand({
  name: 'request',
  describe: 'Send a request to a stream, and print the reply',
  positionals: {
    stream: streamPositional,
    content: { describe: 'The request: a JSON value, or plain text with --text', required: true },
  },
  options: {
    ...memberOptions,
    text: { type: 'boolean', default: false, describe: 'The request is plain text, not JSON' },
    timeout: { type: 'string', default: '5s', describe: 'How long to wait, such as 30s' },
    all: { type: 'boolean', default: false, describe: 'Print every reply until the timeout' },
  },
  examples: [
    [`request 0xowner/lobby '{"sum":[1,2]}' --network network.json`, 'The first reply'],
    [
      'request /lobby status --text --all --timeout 2s --network network.json',
      'All replies within two seconds',
    ],
  ],
  epilogue:
    'Prints each reply as a line of JSON. Replies are encrypted for this process. The responder runs runnel respond, or client.respond().',
  run: async ({ stream, content, text, timeout, all, json: _, ...network }) => {
    const streamOf = streamArgument(stream)
    const asked = text ? content : jsonOf(content)
    const timeoutMs = parseDurationMs(timeout, 'timeout')
    const stop = listenForStop()
    const output = standardOutput()
    const print = (reply: unknown) => output.write(`${printableJson(printableContent(reply))}\n`)
    await withClient(network, {}, async (client, trackers) => {
      const options = { timeoutMs, signal: stop.signal }
      const streamId = streamOf(client)
      if (all) {
        for await (const reply of client.requestMany(streamId, asked, options)) {
          if (reply.error === undefined) await print(reply.content)
          else notice(errorLine(reply.error))
        }
        return
      }
      try {
        await print((await client.request(streamId, asked, options)).content)
      } catch (error) {
        if (isRunnelError(error, 'NO_RESPONDER')) trackers.requireReached()
        throw error
      }
    })
    stop.release()
  },
})

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw nodeError('USAGE', 'the request is not JSON; for plain text, give --text')
  }
}
