import type { Message } from '@runnel/client'
import type { MediaObject } from '../core/media-object.ts'
import type { LeaveReason, Member } from './member.ts'

/** The place of an object: see `UrgentOptions`. */
export interface ObjectPlace {
  readonly group: number
  readonly object: number
}

/** What happens in a session. */
export interface MediaEvents {
  /** Somebody came, left, or announced something new: its tracks, or what it decodes. */
  readonly members: [members: readonly Member[]]
  /** A member has left, and why; `members` follows. */
  readonly left: [member: Member, reason: LeaveReason]
  /** A frame of a member's track. */
  readonly object: [member: Member, object: MediaObject, place: ObjectPlace]
  /** A message in the stream, from this member too, that is not part of the session: a chat. */
  readonly message: [message: Message]
  /** Something could not be published, or the user may not read a partition any more; the session goes on. */
  readonly fault: [error: unknown]
}
