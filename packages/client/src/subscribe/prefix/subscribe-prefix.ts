import type { NodeId } from '@runnel/protocol'
import { throwIfAborted } from '../../deadline.ts'
import type { ClientKeys } from '../../encryption/client-keys.ts'
import { clientError } from '../../errors.ts'
import { parsePrefix } from '../../follow/stream-pattern.ts'
import type { OnMessage } from '../inbox.ts'
import type { SubscribeOptions, Subscriber } from '../subscriber.ts'
import type { Subscription } from '../subscription.ts'
import { prefixLimits } from './limits.ts'
import { PrefixSubscription, type PrefixModules } from './prefix-subscription.ts'

export interface SubscribePrefixModules extends Pick<
  PrefixModules,
  'client' | 'clock' | 'status' | 'closing'
> {
  /** Whose streams a prefix that begins with a slash means. */
  readonly account: NodeId
  readonly subscriber: Pick<Subscriber, 'createShared' | 'subscribeInto'>
  readonly keys: Pick<ClientKeys, 'attend'>
}

/** Subscribes to all streams under a prefix. Throws INVALID_ARGUMENT, ABORTED, and what the registry throws. */
export async function subscribePrefix(
  prefix: string,
  options: SubscribeOptions,
  onMessage: OnMessage | undefined,
  modules: SubscribePrefixModules,
): Promise<Subscription> {
  const { account, client, clock, closing, keys, status, subscriber } = modules
  const { inbox, shared } = subscriber.createShared(options)
  const pattern = parsePrefix(prefix, account)
  const { maxStreams = prefixLimits.maxStreams, partitions, signal } = options
  if (partitions !== undefined)
    throw clientError('INVALID_ARGUMENT', 'a prefix has no partitions: its streams each have their own')
  if (!Number.isInteger(maxStreams) || maxStreams < 1 || maxStreams > prefixLimits.mostStreams)
    throw clientError(
      'INVALID_ARGUMENT',
      `maxStreams is a whole number from 1 to ${prefixLimits.mostStreams}`,
    )
  const subscription = new PrefixSubscription(pattern, options, {
    ...{ client, inbox, ...shared, clock, status, closing },
    open: async (to, streamId, chosen) => {
      const opened = await subscriber.subscribeInto(to, streamId, chosen)
      keys.attend(streamId)
      return opened
    },
  })
  await subscription.start()
  throwIfAborted(signal)
  if (onMessage !== undefined) void inbox.deliverTo(onMessage)
  return subscription
}
