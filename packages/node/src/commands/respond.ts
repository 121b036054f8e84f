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
  describe: 'Answer requests in a stream, with a value or with the output of a program',
  positionals: { stream: streamPositional },
  options: {
    ...memberOptions,
    with: { type: 'string', describe: 'Answer every request with this JSON value' },
    run: {
      type: 'string',
      describe: 'Program that answers; it runs once for each request, without a shell',
    },
    arg: {
      type: 'string',
      array: true,
      describe: 'Argument of the program; may be repeated',
    },
  },
  examples: [
    [`respond 0xowner/lobby --with '{"ok":true}' --network network.json`, 'The same reply for every request'],
    [
      'respond /lobby --network network.json --key my.key --run jq --arg .sum',
      'Replies with what the program prints',
    ],
  ],
  epilogue:
    'The program gets the request as JSON on its standard input, and the address of the requester in RUNNEL_PUBLISHER. What it prints is the reply: JSON, otherwise text. If it prints nothing, there is no reply. If it fails, the requester is told its exit code. It is stopped after 30 seconds. Exits with 0 on SIGINT, and with an error when the stream is deleted or may no longer be read.',
  run: async ({ stream, run: program, arg: args = [], with: answer, json: _, ...network }) => {
    const streamOf = streamArgument(stream)
    if ((answer === undefined) === (program === undefined))
      throw nodeError('USAGE', 'give either --run or --with')
    const value = answer === undefined ? undefined : jsonOf(answer)
    const stop = listenForStop()
    await withClient(network, {}, async (client) => {
      const streamId = streamOf(client)
      void tellOfEnd(client)
      const ended = Promise.withResolvers<Error>()
      const responding = await client.respond(
        streamId,
        ({ content, publisherId }) =>
          program === undefined ? value : runHandler([program, ...args], content, publisherId),
        { onEnded: ended.resolve },
      )
      notice(`responding in ${streamId}`)
      // Whoever supervises it is told that no request comes any more.
      const reason = await Promise.race([stop.stopped, ended.promise])
      await responding.unsubscribe()
      if (reason !== undefined) throw reason
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
