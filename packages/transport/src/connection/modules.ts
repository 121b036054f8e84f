import type { Capability, Clock, Credential, Crypto, Identity, Random, VersionRange } from '@runnel/protocol'
import type { ConnectionLimits } from './limits.ts'

/** For whom a process acts, and on which chain delegations of others have to be. */
export interface Acting {
  /** Undefined: any chain will do. */
  readonly chainId: number | undefined
  /** What is shown to peers; undefined where the process is its own user. */
  credential(): Credential | undefined
  /** Calls back when there is a new credential, until the function it returns is called. */
  onChange(listener: () => void): () => void
}

/** What every connection stands on. */
export interface ConnectionModules {
  readonly clock: Clock
  readonly random: Random
  readonly crypto: Crypto
  readonly identity: Identity
  readonly limits?: Partial<ConnectionLimits>
  /** Software name and version, told to the peer, for people. */
  readonly agent?: string
  /** For whom this side acts, and what it takes of others. Default: for itself, and delegations for any chain. */
  readonly acting?: Acting
  /** Checks credentials; it may remember signers, as peers show the same again. Default: `crypto`. */
  readonly credentialCrypto?: Crypto
  /** Wire versions that the hello names. Default: those of this build; a test of an upgrade names later ones as well. */
  readonly versions?: VersionRange
  /** What this side can do besides; default: nothing. */
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
