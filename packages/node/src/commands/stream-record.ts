import { defineCommand } from '../cli/command.ts'
import { memberOptions } from '../cli/common-options.ts'
import { notice } from '../cli/output.ts'
import { listenForStop } from '../cli/stop-signal.ts'
import { streamArgument, streamPositional } from '../cli/stream-argument.ts'
import { tellOfEnd } from '../cli/tell-of-end.ts'
import { withClient } from '../cli/with-client.ts'

export const streamRecord = defineCommand({
  name: 'stream record',
  describe: 'Record the urgent messages of a stream in another stream, which storage nodes keep',
  positionals: {
    stream: streamPositional,
    to: { describe: 'Stream to record to: an ordinary stream with storage', required: true },
  },
  options: memberOptions,
  examples: [
    ['stream record 0xowner/room /room-recorded --key my.key', 'Until Ctrl-C'],
    ['resend from -1h /room-recorded --recording --key my.key', 'Prints the last hour of the recording'],
  ],
  epilogue:
    'Keeps each message as its publisher signed it. Needs subscribe on the first stream and publish on the second, a storage node for the second, and one for the first, to keep its keys, if that is encrypted. On SIGINT it publishes what it has received, prints the count, and exits with 0; with an error when the first stream is deleted or may no longer be read.',
  run: async ({ stream, to, ...network }) => {
    const [fromOf, toOf] = [streamArgument(stream), streamArgument(to)]
    const stop = listenForStop()
    await withClient(network, {}, async (client) => {
      void tellOfEnd(client)
      const ended = Promise.withResolvers<Error>()
      const recording = await client.record(fromOf(client), toOf(client), { onEnded: ended.resolve })
      notice(`recording ${recording.from} in ${recording.to}`)
      const reason = await Promise.race([stop.stopped, ended.promise])
      await recording.stop()
      const { recorded, failed } = recording
      notice(`${recorded} messages recorded${failed > 0 ? `, ${failed} could not be published` : ''}`)
      if (reason !== undefined) throw reason
    })
    stop.release()
  },
})
