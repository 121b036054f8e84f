import type { Message } from '@runnel/client'
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

/** Members of the earlier session that a member replaces: of its user and in another process, as nobody can have those of others let go. */
export function replacedBy(
  { id, userId, catalogue: { replaces } }: Member,
  members: Iterable<Member>,
): readonly Member[] {
  return [...members].filter(
    (other) => other.userId === userId && other.catalogue.session === replaces && other.id !== id,
  )
}

/** What a chain's name ends with that was begun anew, in one partition or the other, as the clock of the process was set right. */
const begunAnew = /\.\d+$/

/** Of a process: its urgent messages have a chain of their own, whose name is that of the others behind one character. */
export function memberIdOf({ publisherId, messageChainId, urgent }: Message): string {
  const chainId = urgent === undefined ? messageChainId : messageChainId.slice(1)
  return `${publisherId}/${chainId.replace(begunAnew, '')}`
}
