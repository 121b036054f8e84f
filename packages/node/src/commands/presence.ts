import { defineCommand } from '../cli/command.ts'
import { memberOptions } from '../cli/common-options.ts'
import { parseDurationMs } from '../cli/duration.ts'
import { notice, standardOutput } from '../cli/output.ts'
import { printableJson } from '../cli/printable.ts'
import { listenForStop } from '../cli/stop-signal.ts'
import { streamArgument, streamPositional } from '../cli/stream-argument.ts'
import { tellOfEnd } from '../cli/tell-of-end.ts'
import { withClient } from '../cli/with-client.ts'

export const presence = defineCommand({
  name: 'presence',
  describe: 'Print who joins and leaves a stream, one JSON value per line',
  positionals: { stream: streamPositional },
  options: {
    ...memberOptions,
    enter: {
      type: 'string',
      requiresArg: false,
      describe: 'Become visible under this public name; without a value, under your address only',
    },
    for: { type: 'string', describe: 'Stop after this time, such as 10s' },
  },
  examples: [
    ['presence 0xowner/lobby --network network.json', 'Until Ctrl-C'],
    ['presence /lobby --enter alice --network network.json --key my.key', 'As a member'],
    ['presence /secret --enter --network network.json --key my.key', 'As a member of an encrypted stream'],
  ],
  epilogue:
    'Members that are already there are printed as joining within ten seconds. A member leaves, or is lost after 25 seconds of silence. Names are not encrypted: --enter with a name is refused in an encrypted stream.',
  run: async ({ stream, enter, for: duration, json: _, ...network }) => {
    const streamOf = streamArgument(stream)
    const durationMs = duration === undefined ? undefined : parseDurationMs(duration, 'for')
    const stop = listenForStop()
    const output = standardOutput()
    await withClient(network, {}, async (client) => {
      void tellOfEnd(client)
      const as = enter === undefined || enter === '' ? undefined : { name: enter }
      const watched = await client.presence(streamOf(client), { as, signal: stop.signal })
      // Without data, which an encrypted stream does not take.
      if (enter === '') await watched.enter()
      notice(`watching ${watched.streamId}`)
      const end = () => watched.close()
      void output.closed.then(end)
      const timer = durationMs === undefined ? undefined : setTimeout(end, durationMs)
      for await (const event of watched) if (!(await output.write(`${printableJson(event)}\n`))) break
      clearTimeout(timer)
    })
    stop.release()
  },
})
