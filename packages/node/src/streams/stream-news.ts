import { noPermission, type FollowChange } from '@runnel/client/follow'
import type { NodeId } from '@runnel/protocol'
import type { Logger } from '../logger.ts'

/** Logs what became of a stream. */
export function tellStreamNews(
  { streamId, now }: FollowChange,
  { userId, logger }: { readonly userId: NodeId; readonly logger: Pick<Logger, 'info' | 'warn'> },
): void {
  if (now === undefined) logger.info({ streamId }, 'left the stream')
  else if (now.state === 'joined') logger.info({ streamId, partitions: now.partitions }, 'joined the stream')
  else if (now.state === 'missing')
    logger.warn(
      { streamId, code: 'STREAM_NOT_FOUND' },
      'no such stream yet: the node joins it once it is created',
    )
  else if (now.state === 'denied') {
    const { code, message, remedy } = noPermission('subscribe', userId, streamId)
    logger.warn({ streamId, code }, `${message}. ${remedy}`)
  }
}
