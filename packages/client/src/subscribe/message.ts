import type { MessageChain, MessageRef, UrgentFields } from '@runnel/protocol'
import type { MessageHeaders } from '../content/headers.ts'

/** A message as a subscription delivers it: verified and decoded. */
export interface Message<T = unknown> extends MessageChain, MessageRef {
  /** The message before this one in its chain; undefined for the first. */
  readonly previous: MessageRef | undefined
  /** The id of the key that encrypted the content; undefined if it was not encrypted. */
  readonly keyId: string | undefined
  /** How the publisher sent it. */
  readonly contentType: 'binary' | 'json' | 'text' | 'unknown'
  /** The publisher's headers for the content; empty if there are none. */
  readonly headers: MessageHeaders
  /** The key of the stream whose value the message is; undefined if it has none, or if the message is raw and encrypted. */
  readonly key: string | undefined
  /** True if the message says that its key has no value from here on: see `remove`. */
  readonly isRemoval: boolean
  /** For an urgent message, its publisher's urgent options; undefined for all other messages. */
  readonly urgent: UrgentFields | undefined
  /** For a recording: when the recorder published the message, by the recorder's clock, in Unix milliseconds; otherwise undefined. */
  readonly recordedMs?: number | undefined
  /** A Uint8Array (binary, unknown, or a raw subscription), a string (text), or the parsed JSON; or what the schema makes of it. */
  readonly content: T
}
