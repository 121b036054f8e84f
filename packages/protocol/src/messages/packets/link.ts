import type { AccessToken } from './membership.ts'
import type { Capability, VersionRange } from '../capabilities.ts'
import type { Delegation } from '../../delegation/delegation.ts'
import type { NodeId } from '../../ids/node-id.ts'

export const linkRoles = ['node', 'tracker'] as const
export type LinkRole = (typeof linkRoles)[number]

/** With what the frames of a link are sealed: the ciphers that Noise calls AESGCM and ChaChaPoly. */
export const sealings = ['none', 'aes-256-gcm', 'chacha20-poly1305'] as const
export type Sealing = (typeof sealings)[number]

/** First packet in each direction of a new link: who I claim to be, and my part of what both sign. */
export interface Hello {
  readonly type: 'hello'
  readonly versions: VersionRange
  readonly role: LinkRole
  readonly nodeId: NodeId
  /** 32 random bytes; where frames are sealed, an X25519 public key made for this link alone. */
  readonly nonce: Uint8Array
  /** What the dialler chose; `none` in the hello of a listener, and on channels that are bound to their two ends. */
  readonly sealing: Sealing
  /** `host:port` as the dialler dialled it; empty in the hello of a listener, and where there is no such address. */
  readonly address: string
  /** Software name and version, for people. */
  readonly agent: string
  readonly capabilities: readonly Capability[]
}

/** Second packet in each direction: the signature that proves the id of the hello. See docs/protocol.md, handshake. */
export interface Proof {
  readonly type: 'proof'
  readonly signature: Uint8Array
}

/** `token` comes back in the pong. */
export interface Ping {
  readonly type: 'ping'
  readonly token: number
}

export interface Pong {
  readonly type: 'pong'
  readonly token: number
}

/** Why a link is being closed; the last packet on it. */
export interface Close {
  readonly type: 'close'
  readonly code: string
  readonly reason: string
}

/** For whom the sender acts: right behind its proof, where its hello has the capability `acts-for`, and again when it has a new one. */
export interface CredentialPacket {
  readonly type: 'credential'
  readonly delegation: Delegation
  /** Where the sender's key is not the delegate: the delegate's leave for it, as in a membership. */
  readonly token: AccessToken | undefined
}

/** A piece of a packet too large for one frame of the channel. Pieces arrive in order; `last` completes the packet. */
export interface Fragment {
  readonly type: 'fragment'
  readonly last: boolean
  readonly bytes: Uint8Array
}

/**
 * A part of an urgent batch too large for one frame. Pieces may come in any order, and between those of other objects; where one does not come
 * while there is time, the others are of no use.
 */
export interface Piece {
  readonly type: 'piece'
  /** Which object on this link; not that of another one under way. Unsigned 32 bits. */
  readonly object: number
  /** From 0. */
  readonly index: number
  readonly count: number
  /** As of an `urgent`, when this piece was sent. */
  readonly remainingMs: number
  /** Of the batch. */
  readonly bytes: Uint8Array
}

/** Numbers the frame that it is in, whose arrival the receiver then tells. Each number once on a link, growing. */
export interface Mark {
  readonly type: 'mark'
  /** Unsigned 32 bits. */
  readonly number: number
}

/** When frames with a mark came, by a clock of the receiver that begins anywhere, in tenths of a millisecond. */
export interface Arrivals {
  readonly type: 'arrivals'
  /** How long ago the newest of them came. */
  readonly heldTenthsMs: number
  /** By ascending number; those that are missing may be lost, or come later. */
  readonly frames: readonly { readonly number: number; readonly atTenthsMs: number }[]
}
