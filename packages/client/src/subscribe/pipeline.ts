import type { Delivery } from '@runnel/network'
import type { StatusHub } from '../status.ts'
import { asError } from '../errors.ts'
import { decodeMessage } from './decode.ts'
import type { QueuedSubscription } from './subscription.ts'

/**
 * The way of a message from the node to one subscription, step by step. That it is new, well-formed, signed by its
 * publisher, and that the publisher may publish, the node has seen to before it delivered or forwarded it.
 *
 * 1. decode: content into bytes, text or a value; what fails is counted and reported, and goes no further
 * 2. queue: where the oldest make room, counted and reported, when the application is too slow
 * 3. the application: a callback or an iteration takes it from the queue
 */
export function deliver(
  { streamPartId, message }: Delivery,
  subscription: QueuedSubscription,
  modules: { status: StatusHub },
): void {
  let decoded
  try {
    decoded = decodeMessage(message, subscription.raw)
  } catch (error) {
    const { publisherId, timestamp, sequenceNumber } = message
    subscription.countUndecodable()
    modules.status.emit({
      type: 'undecodable',
      streamPartId,
      publisherId,
      ref: { timestamp, sequenceNumber },
      error: asError(error),
    })
    return
  }
  subscription.push(decoded, message.content.length)
}
