import type { RunnelClient } from '@runnel/client'
import { streamIdOf, toNodeId, type StreamId } from '@runnel/protocol'

export const streamPositional = {
  describe: 'Stream id: 0xowner/path, or /path of your own',
  required: true,
} as const

const anybody = toNodeId(`0x${'0'.repeat(40)}`)

/** The stream that an argument names, once it is known whose command it is. Throws INVALID_STREAM_ID at once. */
export function streamArgument(text: string): (client: Pick<RunnelClient, 'streamId'>) => StreamId {
  streamIdOf(text, anybody)
  return (client) => client.streamId(text)
}
