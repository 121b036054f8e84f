import type { UserConfig } from '@runnel/client'
import type { DescribedNetwork } from '../../cli/network-source.ts'
import type { DroppedCopies } from '../core/loss.ts'
import type { LoadPlan, PartAddress, UserRole } from '../core/plan.ts'

/** Where users are, and who they are. Plain data: workers get it as JSON. */
export interface UserPlace {
  readonly network: DescribedNetwork
  /** In whose name all act; undefined: each is a user of its own. */
  readonly user: UserConfig | undefined
  /** Address that nodes of users listen on, where they can be reached by WebSocket. */
  readonly host: string
  /** Of a gateway, for users that are no nodes. */
  readonly gateway: { readonly url: string; readonly key: string } | undefined
}

export interface UserOptions {
  readonly plan: LoadPlan
  readonly place: UserPlace
  readonly role: UserRole
  readonly part: PartAddress
  /** When it should have begun, in Unix milliseconds by this machine's clock: what it waits for counts from then. */
  readonly intendedMs: number
  /** Calls opening off; what was begun is closed. */
  readonly signal: AbortSignal
  /** Bytes of a message that came, and when, in Unix milliseconds by this machine's clock; default: now. */
  onMessage(content: Uint8Array, atMs?: number): void
  /** Something went wrong without ending the user. */
  onError(error: unknown): void
  /** A delay, in milliseconds, that no message tells of. */
  onDelay(ms: number): void
}

export interface NeighbourCount {
  readonly has: number
  /** As many as its tracker says that it should have. */
  readonly wants: number
}

/** A user of a network under load. Whatever kind it is, it takes part for real: nothing of it is a stub. */
export interface BenchUser {
  /** Hands a message over at once. Resolves when it has been published, and rejects where it cannot be. */
  publish(content: Uint8Array, urgent: boolean): Promise<void>
  /** Copies of messages that its node has dropped; undefined where a user has none, or does not see it. */
  dropped(): DroppedCopies | undefined
  /** Neighbours it has and should have; undefined where a user has none, or they cannot be seen. */
  neighbours(): Promise<NeighbourCount | undefined>
  /** Idempotent. */
  stop(): Promise<void>
}

/** Makes users of one kind. */
export interface UserFactory {
  /** What such a user leaves out of what a person's program does; for people. */
  readonly leavesOut: string
  /** Resolves when it takes part: it has joined, and a neighbour if there is anybody. Nothing is left running when it throws. */
  open(options: UserOptions): Promise<BenchUser>
  /** What users share. Idempotent. */
  stop(): Promise<void>
}
