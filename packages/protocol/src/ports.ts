import type { Delegation } from './delegation/delegation.ts'
import type { NodeId } from './ids/node-id.ts'
import type { PermissionScope, StreamId } from './ids/stream-id.ts'

/** Stops what a `schedule` call started. Calling it twice, or too late, does nothing. */
export type Cancel = () => void

/**
 * Time, as a port: the system's in production, a virtual one in tests and the simulator. Cores never hold a
 * Clock; they are given the time.
 */
export interface Clock {
  /** The wall clock: milliseconds since the Unix epoch, whole. For dates only, as it may be set at any moment. */
  now(): number
  /** Milliseconds from an arbitrary start, never negative and never going back, with fractions: for everything that is not a date. */
  monotonicMs(): number
  /** Runs `fn` once after `delayMs`. */
  schedule(delayMs: number, fn: () => void): Cancel
  /** Runs `fn` when the present turn of the event loop has handled its events (the virtual clock: at the same instant, after the events already due). */
  endOfTurn(fn: () => void): void
}

/** One moment by both clocks. */
export interface Time {
  /** By the monotonic clock: durations, deadlines, pauses and ages of kept data. */
  readonly nowMs: number
  /** By the wall clock, in Unix milliseconds: dates, such as timestamps of messages and expiry times. */
  readonly wallMs: number
}

/** Randomness, as a port: seeded in tests and the simulator, the operating system's in production. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number
  /** `length` random bytes. */
  bytes(length: number): Uint8Array
  /** An independent generator; the same label gives the same generator from the same seed. */
  fork(label: string): Random
}

/** The cryptography everything stands on: keccak-256 and recoverable secp256k1. Synchronous, so that cores stay still. */
export interface Crypto {
  /** The implementation in use; reported in metrics. `native` is 5–40 times faster than the others. */
  readonly backend: 'native' | 'wasm' | 'js'
  /** The 32-byte hash of the parts, one after the other. */
  keccak256(...parts: readonly Uint8Array[]): Uint8Array
  /** Signs a 32-byte digest: 65 bytes, r ‖ s ‖ v with v in {0, 1}, low s. */
  sign(digest: Uint8Array, privateKey: Uint8Array): Uint8Array
  /**
   * The 20-byte address whose key made the signature, or undefined if the signature is not valid. High-s signatures are
   * invalid. Never throws. `expected` does not change the answer; one that is seen often makes it quicker.
   */
  recover(digest: Uint8Array, signature: Uint8Array, expected?: NodeId): Uint8Array | undefined
  /** The 20-byte address of a private key. Throws INVALID_KEY. */
  addressOf(privateKey: Uint8Array): Uint8Array
}

/** Whose nodes may take part in a network: if it is private, those of users that its registry lists. Answers at once from what is known. */
export interface NodeAdmission {
  /** Whether the registry lists users. Each may have `limits.maxNodesOfUser` nodes. */
  readonly isPrivate: boolean
  /**
   * Under a delegation, whose bounds and key signature the asker has checked: false if it is known to have been taken back, and for
   * a contract until it is known to back the delegation; the asker is called back when that changes. `cause` is who makes us ask.
   */
  allows(userId: NodeId, delegation?: Delegation, cause?: string): boolean
  /** Calls `listener` when an answer may have changed, until the returned function is called. */
  onChange(listener: () => void): () => void
}

/**
 * Who may read a stream: users with subscribe permission, and storage nodes that are to keep it; for its key part, also users with
 * another permission (`PermissionScope`). Answers come from a registry.
 */
export interface ReaderPolicy {
  /**
   * For how many milliseconds from now the user may read: Infinity for ever, 0 or less not at all; undefined if nothing is known.
   * At once and cheap. With a delegation, whose bounds and key signature the asker has checked: not at all if the registry says
   * that it was taken back, or the user is a contract that does not back it.
   */
  readsForMs(scope: PermissionScope, userId: NodeId, delegation?: Delegation): number | undefined
  /**
   * Looks it up; afterwards `readsForMs` knows. Rejects when nobody can be asked. `cause` is the neighbour or network that
   * makes us ask: one that causes many look-ups should not be in the way of the rest.
   */
  resolve(scope: PermissionScope, userId: NodeId, cause?: string, delegation?: Delegation): Promise<void>
  /** Calls `listener` when answers about a stream, or about all, may have changed, until the returned function is called. */
  onChange(listener: (streamId: StreamId | undefined) => void): () => void
}

/** When delegations were taken back; answers come from a registry. */
export interface DelegationHistory {
  /**
   * Messages under the delegation are valid if their timestamps are below this, in Unix milliseconds: Infinity if it was not taken back,
   * 0 if the user is a contract that did not back it when it was signed. Rejects when nobody can be asked.
   */
  validUntilMs(delegation: Delegation, cause?: string): Promise<number>
}

/** Whether a publisher may publish. Answers come from a registry, through whoever embeds a node or runs a tracker. */
export interface PublisherPolicy {
  /**
   * The answer at `wallMs`, at once and cheap: on 'unknown' the asker calls `resolve`, and waits (bounded) until it knows. With
   * `oldestMs`, the time of the oldest message in question, also 'denied' if that message is older than the stream. A delegation is
   * treated as in `readsForMs`.
   */
  check(
    scope: PermissionScope,
    publisherId: NodeId,
    wallMs: number,
    oldestMs?: number,
    delegation?: Delegation,
  ): 'allowed' | 'denied' | 'unknown'
  /**
   * Looks it up; afterwards `check` gives an answer, or the promise is rejected and whatever waited is dropped and counted.
   * `cause` is the neighbour or network that brought it: one that causes many look-ups should not be in the way of the rest.
   */
  resolve(scope: PermissionScope, publisherId: NodeId, cause?: string, delegation?: Delegation): Promise<void>
}
