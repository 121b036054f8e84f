import type { NodeId, StreamId } from '@runnel/protocol'
import type { PublisherPolicy } from '../ports.ts'

/** Asks the policy to find out; `onResolved` is called once, later, whatever it does. */
export function resolvePublisher(
  policy: PublisherPolicy,
  streamId: StreamId,
  publisherId: NodeId,
  from: NodeId | undefined,
  onResolved: (found: boolean) => void,
): void {
  new Promise<void>((resolve) => {
    resolve(policy.resolve(streamId, publisherId, from))
  }).then(
    () => onResolved(true),
    () => onResolved(false),
  )
}
