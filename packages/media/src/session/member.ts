import type { Catalogue } from '../catalogue/catalogue.ts'

/** Somebody in a session: one process of a user. */
export interface Member {
  /** Identifies its user and process; does not change while the member is there. */
  readonly id: string
  /** The address of its user, which signs what it sends. */
  readonly userId: string
  /** Its latest catalogue. */
  readonly catalogue: Catalogue
}

/**
 * Why a member has left: it said goodbye, its user says that another session has taken its place, or nothing came from it for
 * `mediaLimits.memberTtlMs`.
 */
export type LeaveReason = 'goodbye' | 'replaced' | 'silence'
