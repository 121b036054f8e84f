import { clientErrors } from '@runnel/client'
import type { NodeId, StreamId } from '@runnel/protocol'
import type { Logger } from '../logger.ts'
import type { FollowedStream } from './streams-status.ts'

/** Logs what became of streams. */
export function tellStreamNews(
  before: readonly FollowedStream[],
  now: readonly FollowedStream[],
  { userId, logger }: { readonly userId: NodeId; readonly logger: Pick<Logger, 'info' | 'warn'> },
): void {
  const known = new Map<StreamId, FollowedStream>(before.map((stream) => [stream.streamId, stream]))
  for (const stream of now) {
    const { streamId, state, partitions } = stream
    const was = known.get(streamId)
    known.delete(streamId)
    if (was?.state === state && was.partitions === partitions) continue
    if (state === 'joined') logger.info({ streamId, partitions }, 'in the stream')
    else if (state === 'missing')
      logger.warn(
        { streamId, code: 'STREAM_NOT_FOUND' },
        'no such stream yet: it is joined once it is created',
      )
    else if (state === 'denied') {
      const code = 'NO_SUBSCRIBE_PERMISSION'
      const remedy = `whoever may grant can run: runnel stream grant ${streamId} ${userId} subscribe`
      logger.warn({ streamId, code }, `${clientErrors[code].summary}: ${remedy}`)
    }
  }
  for (const streamId of known.keys()) logger.info({ streamId }, 'no longer in the stream')
}
