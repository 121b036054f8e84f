import type { PublisherPolicy } from '@runnel/network'
import type { Clock, NodeId } from '@runnel/protocol'

export interface LookingUpOptions {
  /** A registry's answer takes so long. */
  readonly answerMs: number
  isDenied(nodeId: NodeId): boolean
}

/** A policy that knows nothing of a publisher before it has been asked once. */
export function lookingUp({ answerMs, isDenied }: LookingUpOptions, clock: Clock): PublisherPolicy {
  const known = new Set<NodeId>()
  return {
    check: (_, publisherId) => {
      if (answerMs > 0 && !known.has(publisherId)) return 'unknown'
      return isDenied(publisherId) ? 'denied' : 'allowed'
    },
    resolve: async (_, publisherId) => {
      await new Promise<void>((resolve) => void clock.schedule(answerMs, resolve))
      known.add(publisherId)
    },
  }
}
