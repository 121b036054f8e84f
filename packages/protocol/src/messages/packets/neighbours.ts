import type { Membership } from './membership.ts'
import type { ChainHead } from './gaps.ts'
import type { StreamPartId } from '../../ids/stream-id.ts'

/** "We are neighbours in this stream part." Both sides send one; the other's cache closes the gap since `sinceMs` ago and after `heads`. */
export interface Attach {
  readonly type: 'attach'
  readonly streamPartId: StreamPartId
  /** Replay what you received in the last `sinceMs` milliseconds (an age, so clocks need not agree); 0 asks for nothing. */
  readonly sinceMs: number
  /** Of these chains replay only what comes after. */
  readonly heads: readonly ChainHead[]
  /** Absent: it reads, in its own name. */
  readonly membership?: Membership
}

/**
 * "I am your guest in this stream part": as an attach, of a node that is in no overlay and forwards nothing. The host answers with an
 * attach.
 */
export interface GuestAttach extends Omit<Attach, 'type'> {
  readonly type: 'guestAttach'
}

/** "We are no longer neighbours in this stream part." */
export interface Detach {
  readonly type: 'detach'
  readonly streamPartId: StreamPartId
  readonly reason: DetachReason
}

export const detachReasons = [
  'left',
  'replaced',
  'not-joined',
  'not-wanted',
  'full',
  'not-permitted',
] as const
export type DetachReason = (typeof detachReasons)[number]
