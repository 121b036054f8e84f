import type { Beside, LinkArm } from './link-plan.ts'

/** What a peer of a line is told, as its one argument. */
export interface PeerTask {
  readonly role: 'sender' | 'receiver'
  readonly arm: LinkArm
  readonly beside: Beside
  /** Of the receiver, and a port that is its own. */
  readonly address: string
  readonly port: number
  /** Of ours. */
  readonly networkFile: string
  readonly streamId: string
  /** Renditions of the same clip, the lowest first. */
  readonly clips: readonly { readonly kbitPerS: number; readonly file: string }[]
  readonly picturesPerS: number
  /** It begins again after so many pictures. */
  readonly pictures: number
  readonly recordFile: string
}

/** A picture that was sent or that came. Times are microseconds of the machine's monotonic clock, which all processes share. */
export interface LinkPicture {
  /** Counted from the first. */
  readonly number: number
  readonly rendition: number
  readonly atUs: number
}

export interface PeerRecord {
  /** When the sender's first picture was due. */
  readonly startUs: number
  readonly pictures: readonly LinkPicture[]
  /** Bytes of what is beside, by when they came. */
  readonly beside: readonly { readonly atUs: number; readonly bytes: number }[]
}

/** What a sender tells the driver when it begins. */
export interface PeerNews {
  readonly startUs: number
}
