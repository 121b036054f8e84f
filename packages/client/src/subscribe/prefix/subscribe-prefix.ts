import { throwIfAborted } from '../../deadline.ts'
import { clientError } from '../../errors.ts'
import type { StreamPrefix } from '../../follow/stream-pattern.ts'
import type { SubscribeOptions } from '../subscriber.ts'
import type { OnMessage } from '../inbox.ts'
import type { Subscription } from '../subscription.ts'
import { prefixLimits } from './limits.ts'
import { PrefixSubscription, type PrefixModules } from './prefix-subscription.ts'

export { parsePrefix } from '../../follow/stream-pattern.ts'

/** Subscribes to all streams under a prefix. Throws INVALID_ARGUMENT, ABORTED, and what the registry throws. */
export async function subscribePrefix(
  pattern: StreamPrefix,
  options: SubscribeOptions,
  onMessage: OnMessage | undefined,
  modules: PrefixModules,
): Promise<Subscription> {
  const { maxStreams = prefixLimits.maxStreams, partitions, signal } = options
  if (partitions !== undefined)
    throw clientError('INVALID_ARGUMENT', 'a prefix has no partitions: its streams each have their own')
  if (!Number.isInteger(maxStreams) || maxStreams < 1 || maxStreams > prefixLimits.mostStreams)
    throw clientError(
      'INVALID_ARGUMENT',
      `maxStreams is a whole number from 1 to ${prefixLimits.mostStreams}`,
    )
  const subscription = new PrefixSubscription(pattern, options, modules)
  await subscription.start()
  throwIfAborted(signal)
  if (onMessage !== undefined) void modules.inbox.deliverTo(onMessage)
  return subscription
}
