import type { Capability, Clock, Crypto, Identity, Random } from '@runnel/protocol'
import type { ConnectionLimits } from './limits.ts'

/** What every connection needs from its owner. */
export interface ConnectionModules {
  readonly clock: Clock
  readonly random: Random
  readonly crypto: Crypto
  readonly identity: Identity
  readonly limits?: Partial<ConnectionLimits>
  /** Software name and version, told to the peer, for people. */
  readonly agent?: string
  /** What this side can do beyond the base protocol. Default: nothing. */
  readonly capabilities?: readonly Capability[]
  /**
   * Called with what an owner's callback threw. The connection it happened on is closed with INTERNAL_ERROR and the others go
   * on. It is called at the end of the turn, on a stack of its own, so that what it throws reaches no other callback.
   */
  readonly onError?: (error: unknown) => void
}

/** Calls back; what the callback throws goes to `onError`. True when it threw. */
export function guarded(modules: Pick<ConnectionModules, 'clock' | 'onError'>, call: () => void): boolean {
  try {
    call()
    return false
  } catch (error) {
    modules.clock.endOfTurn(() => modules.onError?.(error))
    return true
  }
}
