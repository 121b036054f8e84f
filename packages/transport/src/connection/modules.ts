import type { Capability, Clock, Crypto, Identity, Random, VersionRange } from '@runnel/protocol'
import type { ConnectionLimits } from './limits.ts'

/** What every connection stands on. */
export interface ConnectionModules {
  readonly clock: Clock
  readonly random: Random
  readonly crypto: Crypto
  readonly identity: Identity
  readonly limits?: Partial<ConnectionLimits>
  /** Software name and version, told to the peer, for people. */
  readonly agent?: string
  /** Wire versions that the hello names. Default: those of this build; a test of an upgrade names later ones as well. */
  readonly versions?: VersionRange
  /** What this side can do besides; default: nothing. */
  readonly capabilities?: readonly Capability[]
  /**
   * Told what an owner's callback threw. The connection it happened on is closed with INTERNAL_ERROR and the others go on.
   * It is called at the end of the turn, on a stack of its own: what it throws reaches nobody's callback.
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
