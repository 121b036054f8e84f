import type { StreamId } from '@runnel/protocol'

/** A stream that a node was told to take part in. */
export interface FollowedStream {
  readonly streamId: StreamId
  /**
   * `denied`: it is not public, and the node's user may not read it; `missing`: there is none (yet); `failed`: it could not be read, which
   * is tried again.
   */
  readonly state: 'joined' | 'denied' | 'missing' | 'failed'
  /** Partitions that are joined. */
  readonly partitions: number
}

/** How a node does with the streams of its setting `streams`. Plain data. */
export interface StreamsStatus {
  /** Whether the registry said by now which streams they are. */
  readonly isRead: boolean
  readonly followed: readonly FollowedStream[]
  /** Stream parts that are not joined because there are too many; of a stream not looked at it counts one. */
  readonly ignoredParts: number
}
