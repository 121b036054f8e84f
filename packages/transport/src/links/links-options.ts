import type { Clock, Contact, NodeAdmission, NodeId } from '@runnel/protocol'
import type { Transport } from '../ports.ts'

export interface LinksOptions {
  readonly self: NodeId
  /** How others reach this node now. */
  readonly contact: () => Contact
  /** Limit for the last, or only, way to a peer, in milliseconds. */
  readonly dialTimeoutMs?: number
  /** Limit for a way after which there is another, in milliseconds. */
  readonly firstWayTimeoutMs?: number
  /** How long two connections with one peer are both listened to before the one not used is closed, in milliseconds. */
  readonly duplicateLingerMs?: number
  /** Idle links: see `Links`. For one more, an idle one gives way that the network with most of them opened. */
  readonly maxUnsolicited?: number
  /** How long such a link is kept, in milliseconds. */
  readonly unsolicitedGraceMs?: number
}

export const linksDefaults = {
  dialTimeoutMs: 15_000,
  firstWayTimeoutMs: 5000,
  duplicateLingerMs: 10_000,
  maxUnsolicited: 64,
  unsolicitedGraceMs: 30_000,
} as const satisfies Partial<LinksOptions>

export type LinksSettings = Required<LinksOptions>

export interface LinksModules {
  readonly clock: Clock
  readonly transports: readonly Transport[]
  /** With whom there may be links. Default: with everybody. */
  readonly admission?: NodeAdmission | undefined
}

/** What has happened since the start. */
export interface LinksCounters {
  opened: number
  closed: number
  failed: number
  /** Ways that failed and were followed by another. */
  fallbacks: number
  /** Second connections with one peer. */
  duplicates: number
  /** Idle links that gave way to newer ones. */
  unsolicitedEvicted: number
  /** Links nobody asked for, closed because nobody used them. */
  unsolicitedUnused: number
  /** Links refused or closed because the network does not list the peer. */
  notListed: number
}
