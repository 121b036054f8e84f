import { defineCommand } from '../cli/command.ts'
import { memberOptions } from '../cli/common-options.ts'
import { notice } from '../cli/output.ts'
import { listenForStop } from '../cli/stop-signal.ts'
import { streamArgument, streamPositional } from '../cli/stream-argument.ts'
import { tellOfEnd } from '../cli/tell-of-end.ts'
import { withClient } from '../cli/with-client.ts'
import { nodeError } from '../errors.ts'
import { runHandler } from './run-handler.ts'

export const respond = defineCommand({
  name: 'respond',
  describe: 'Answer the requests in a stream, with a value or by a program',
  positionals: { stream: streamPositional },
  options: {
    ...memberOptions,
    with: { type: 'string', requiresArg: true, describe: 'Answer all with this JSON value' },
    run: {
      type: 'string',
      requiresArg: true,
      describe: 'Answer by this program, run for each request without a shell',
    },
    arg: { type: 'string', array: true, requiresArg: true, describe: 'Its argument; may be repeated' },
  },
  examples: [
    [`respond 0xowner/lobby --with '{"ok":true}' --network network.json`, 'The same for all'],
    ['respond /lobby --network network.json --key my.key --run jq --arg .sum', 'What the program prints'],
  ],
  epilogue:
    'The program gets what is asked as JSON on its standard input, and who asked in RUNNEL_PUBLISHER; what it prints is the reply: JSON, or else text. Where it prints nothing there is no reply; where it fails the asker is told its exit code. It is ended after 30 seconds. Ends with 0 on SIGINT.',
  run: async ({ stream, run: program, arg: args = [], with: answer, json: _, ...network }) => {
    const streamOf = streamArgument(stream)
    if ((answer === undefined) === (program === undefined))
      throw nodeError('USAGE', 'give either --run or --with')
    const value = answer === undefined ? undefined : jsonOf(answer)
    const stop = listenForStop()
    await withClient(network, {}, async (client) => {
      const streamId = streamOf(client)
      void tellOfEnd(client)
      const responding = await client.respond(streamId, ({ content, publisherId }) =>
        program === undefined ? value : runHandler([program, ...args], content, publisherId),
      )
      notice(`responding in ${streamId}`)
      await stop.stopped
      await responding.unsubscribe()
    })
    stop.release()
  },
})

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw nodeError('USAGE', '--with takes JSON')
  }
}
