import type { MessageChain, MessageRef, UrgentFields } from '@runnel/protocol'
import type { MessageHeaders } from '../content/headers.ts'

/** A message as a subscription delivers it: verified, and decoded. */
export interface Message<T = unknown> extends MessageChain, MessageRef {
  /** The message before this one in its chain; undefined for the first. */
  readonly previous: MessageRef | undefined
  /** The id of the key that its content was encrypted with; undefined where it was in the clear. */
  readonly keyId: string | undefined
  /** How the publisher sent it. */
  readonly contentType: 'binary' | 'json' | 'text' | 'unknown'
  /** What the publisher said of the content beside it; empty where it said nothing. */
  readonly headers: MessageHeaders
  /** Of which key of the stream it is the value; undefined where it has none, and where it is raw and closed. */
  readonly key: string | undefined
  /** True where it says that its key has no value from here on: see `remove`. */
  readonly isRemoval: boolean
  /** Of an urgent message, what its publisher says of it; undefined of all others. */
  readonly urgent: UrgentFields | undefined
  /** Of a recording: when the recorder published it, by its clock, in Unix milliseconds; undefined elsewhere. */
  readonly recordedMs?: number | undefined
  /** A Uint8Array (binary, unknown, or a raw subscription), a string (text), or what the JSON says; or what the schema makes of it. */
  readonly content: T
}
