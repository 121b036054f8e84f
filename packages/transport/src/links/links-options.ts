import type { Clock, Contact, NodeAdmission, NodeId } from '@runnel/protocol'
import type { Transport } from '../ports.ts'

export interface LinksOptions {
  readonly self: NodeId
  /** How others reach this node at present. */
  readonly contact: () => Contact
  /** Time limit for the last, or only, way to a peer, in milliseconds. */
  readonly dialTimeoutMs?: number
  /** Time limit for a way that is followed by another, in milliseconds. */
  readonly firstWayTimeoutMs?: number
  /** How long two connections to one peer are both read, at least, before the unused one is closed, in milliseconds. */
  readonly duplicateLingerMs?: number
  /** After so long the unused one is closed even if something is still under way on it, in milliseconds. */
  readonly maxDuplicateMs?: number
  /** Limit on idle links: see `Links`. Beyond it, an idle link of the network that opened the most is closed. */
  readonly maxUnsolicited?: number
  /** How long an idle link is kept, in milliseconds. */
  readonly unsolicitedGraceMs?: number
}

export const linksDefaults = {
  dialTimeoutMs: 15_000,
  firstWayTimeoutMs: 5000,
  duplicateLingerMs: 10_000,
  maxDuplicateMs: 300_000,
  maxUnsolicited: 64,
  unsolicitedGraceMs: 30_000,
} as const satisfies Partial<LinksOptions>

export type LinksSettings = Required<LinksOptions>

export interface LinksModules {
  readonly clock: Clock
  readonly transports: readonly Transport[]
  /** Which peers there may be links to. Default: all. */
  readonly admission?: NodeAdmission | undefined
}

/** What has happened since the start. */
export interface LinksCounters {
  opened: number
  closed: number
  failed: number
  /** Ways that failed and were followed by another. */
  fallbacks: number
  /** Second connections to one peer. */
  duplicates: number
  /** Idle links closed to make room for newer ones. */
  unsolicitedEvicted: number
  /** Links nobody asked for, closed because nobody used them. */
  unsolicitedUnused: number
  /** Links refused or closed because the network does not list the peer. */
  notListed: number
}
