import type { FollowedStream } from '@runnel/client/follow'

/** How a node does with the streams of its setting `streams`. Plain data. */
export interface StreamsStatus {
  /** Whether the registry said by now which streams they are. */
  readonly isRead: boolean
  readonly followed: readonly FollowedStream[]
  /** Stream parts that are not joined because there are too many; of a stream not looked at it counts one. */
  readonly ignoredParts: number
}
