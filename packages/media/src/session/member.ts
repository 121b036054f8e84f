import type { Catalogue } from '../catalogue/catalogue.ts'

/** Somebody in a session: one process of a user. */
export interface Member {
  /** Of its user and process; it stays while the member is there. */
  readonly id: string
  /** The address of its user, which signs what it sends. */
  readonly userId: string
  /** What it last said of itself. */
  readonly catalogue: Catalogue
}

/**
 * Why a member is there no more: it said goodbye, its user says that another session has taken its place, or nothing came of it for
 * `mediaLimits.memberTtlMs`.
 */
export type LeaveReason = 'goodbye' | 'replaced' | 'silence'
