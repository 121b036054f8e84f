import type { RunnelClient } from '@runnel/client'
import { parseStreamPattern } from '@runnel/client/follow'
import { streamIdOf, toNodeId, type StreamId } from '@runnel/protocol'

export const streamPositional = {
  describe: 'Stream id: 0xowner/path, or /path for a stream of your own',
  required: true,
} as const

const anybody = toNodeId(`0x${'0'.repeat(40)}`)

/** The stream that an argument names, once it is known whose command it is. Throws INVALID_STREAM_ID at once. */
export function streamArgument(text: string): (client: Pick<RunnelClient, 'streamId'>) => StreamId {
  streamIdOf(text, anybody)
  return (client) => client.streamId(text)
}

export const streamsPositional = {
  describe:
    'Stream id: 0xowner/path, or /path for a stream of your own. 0xowner/path/# is that stream and all below it',
  required: true,
} as const

/** As `streamArgument`, and `0xowner/path/#` stays as it is. Throws INVALID_STREAM_ID at once. */
export function streamsArgument(text: string): (client: Pick<RunnelClient, 'streamId'>) => string {
  if (!text.endsWith('/#')) return streamArgument(text)
  parseStreamPattern(text, anybody)
  return () => text
}
