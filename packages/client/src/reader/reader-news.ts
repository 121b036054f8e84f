import type { NodeId } from '@runnel/protocol'
import type { Message } from '../subscribe/message.ts'

/** What a durable reader has to say: statuses of type `reader`. */
export type ReaderNews =
  /** A message was not acknowledged in time, or refused, and is delivered again. */
  | { readonly state: 'redelivered' | 'given-up'; readonly message: Message }
  /** Members that share the work, this one among them. */
  | { readonly state: 'members'; readonly members: readonly NodeId[] }
  /** The cursor could not be stored, or history not be read; it is tried again. */
  | { readonly state: 'failed'; readonly error: unknown }
  /** The cursor has more ranges than it has room for. */
  | { readonly state: 'cursor-full'; readonly leftOut: number }
  /** It was put elsewhere, with `resetReader`. */
  | { readonly state: 'reset' }
