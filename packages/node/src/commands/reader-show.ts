import type { ReaderBacklog } from '@runnel/client'
import type { RunnelError } from '@runnel/protocol'
import { defineCommand } from '../cli/command.ts'
import { userOptions } from '../cli/common-options.ts'
import { ageText } from '../cli/duration.ts'
import { printResult } from '../cli/output.ts'
import { streamArgument, streamPositional } from '../cli/stream-argument.ts'
import { withClient } from '../cli/with-client.ts'
import { nodeError } from '../errors.ts'

/** The name of a durable reader. */
export const namePositional = {
  describe: 'Name of the reader, as in: subscribe --reader NAME',
  required: true,
} as const

export function noSuchReader(name: string, streamId: string): RunnelError {
  return nodeError('NO_SUCH_READER', `${name} in ${streamId}`)
}

export const readerShow = defineCommand({
  name: 'reader show',
  describe: 'Print the position of a durable reader of the user in a stream, and how far it is behind',
  positionals: { stream: streamPositional, name: namePositional },
  options: userOptions,
  examples: [['reader show 0xowner/lobby billing --key my.key', 'How far it is']],
  epilogue:
    'All messages with an earlier timestamp are done; a reader has no such time in its first ten to twenty minutes. chains is the number of message chains with later messages that are also done. Of what is stored behind that time up to 100,000 messages are read to count those that are not done.',
  run: async ({ stream, name, json, ...network }) => {
    const streamOf = streamArgument(stream)
    await withClient(network, { needsUser: true }, async (client) => {
      const streamId = streamOf(client)
      const stored = await client.readerState(streamId, name)
      const backlog = stored && (await client.readerBacklog(streamId, name))
      if (stored === undefined || backlog === undefined) throw noSuchReader(name, streamId)
      printResult({ ...stored, backlog }, json, [
        `done before  ${stored.doneBeforeMs === 0 ? 'no time yet' : new Date(stored.doneBeforeMs).toISOString()}`,
        `chains       ${stored.chains}`,
        `not done     ${backlogText(backlog)}`,
      ])
    })
  },
})

function backlogText({ messages, hasMore, oldestMs }: ReaderBacklog): string {
  const age = messages === 0 ? '' : `, the oldest ${ageText(oldestMs)} old`
  return `${messages}${hasMore ? ' or more' : ''}${age}`
}
