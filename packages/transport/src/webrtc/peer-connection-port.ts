import type { IceServer } from '@runnel/protocol'

import type { LinkPath } from '../ports.ts'

/** Data channels of some browsers refuse, or mishandle, larger messages. */
export const maxDataChannelFrameBytes = 16 * 1024

export interface RtcCandidate {
  readonly mid: string
  readonly candidate: string
}

export type DescriptionKind = 'offer' | 'answer'

export interface DataChannelEvents {
  /** The receiver may keep the bytes. */
  onMessage(message: Uint8Array): void
  /** A text message, which no correct peer sends. */
  onText(): void
  /** `bufferedBytes` fell to a low mark. */
  onLow(): void
  onClose(): void
}

/** An open data channel: ordered and reliable, unless it is of a lane. */
export interface DataChannelPort {
  readonly bufferedBytes: number
  /** As of a Channel. */
  readonly fullBytes?: number | undefined
  events: DataChannelEvents
  /** Copies the bytes. Throws when the channel is closed. */
  send(message: Uint8Array): void
}

export interface PeerConnectionOptions {
  readonly iceServers: readonly IceServer[]
  /** `relay`: only through TURN. */
  readonly iceTransportPolicy: 'all' | 'relay'
  /** Address of the network interface to use; all when absent. Node only. */
  readonly bindAddress?: string
  /** UDP ports to use, both ends included; any when absent. Node only. */
  readonly portRange?: readonly [first: number, last: number]
  /** Of an answerer: how long its signals take to the offerer, in milliseconds; absent where that is not known. Node only. */
  readonly signalDelayMs?: number | undefined
}

export interface PeerConnectionEvents {
  /** The local description, once, before the first local candidate. */
  onDescription(kind: DescriptionKind, sdp: string): void
  onCandidate(candidate: RtcCandidate): void
  /** The first data channel is open. */
  onOpen(channel: DataChannelPort): void
  /** One of a lane is open, which this side or the other opened; at most once of each. */
  onLane(label: LaneLabel, channel: DataChannelPort): void
  /** Failed, or closed by the other side; not called after `close`. */
  onClose(text: string): void
}

/** Of the first data channel, which both sides create where they agree on it (RFC 8831, section 6.6). */
export const firstChannel = { label: 'runnel', agreed: { negotiated: true, id: 0 } } as const

/** Labels of the data channels beside the first one: for urgent messages, and for packets that others bring when they are lost. */
const laneLabels = ['urgent', 'lossy'] as const
export type LaneLabel = (typeof laneLabels)[number]

/** An unordered data channel that may lose what it is given. */
export interface LaneOptions {
  readonly label: LaneLabel
  /** For how long a message is sent again that was lost; absent: it is sent once. */
  readonly maxLifeMs?: number | undefined
}

export const isLaneLabel = (label: string): label is LaneLabel => laneLabels.some((known) => known === label)

/**
 * What we need of an RTCPeerConnection with one data channel, and maybe some of lanes; the few differences between Node and the browser are behind it.
 * No exception of an event handler reaches the native side: it closes the peer connection, with the error as its text.
 */
export interface PeerConnectionPort {
  /** The path of the selected pair of candidates; undefined while there is none, or where it cannot be known. Never throws. */
  readonly path: LinkPath | undefined
  /** The address of the other end in that pair. Never throws. */
  readonly remoteAddress: string | undefined
  /** Creates the data channel, as one that both agree on, and the offer. */
  offer(): void
  /**
   * Sets the other side's description; an offer is answered. Unless the other side agrees on the data channel, the offerer opens it by a message
   * in the association, as sides of 1.0 do. Throws when the description is invalid.
   */
  setRemote(kind: DescriptionKind, sdp: string, agrees: boolean): void
  /** Only after `setRemote`. False when the candidate cannot be used here. */
  addCandidate(candidate: RtcCandidate): boolean
  /** Opens the data channel of a lane. Once for each label, after `onOpen`. */
  openLane(lane: LaneOptions): void
  /** Closes at once. Idempotent. */
  close(): void
}

/** Throws when the options are invalid. */
export type CreatePeerConnection = (
  options: PeerConnectionOptions,
  events: PeerConnectionEvents,
) => PeerConnectionPort
