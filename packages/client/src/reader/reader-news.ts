import type { NodeId } from '@runnel/protocol'
import type { Message } from '../subscribe/message.ts'

/** News of a durable reader: statuses of type `reader`. */
export type ReaderNews =
  /**
   * A message was not acknowledged in time, or was refused with `nack`: it is
   * delivered again, or given up.
   */
  | { readonly state: 'redelivered' | 'given-up'; readonly message: Message }
  /** The members that share the work, this one among them. */
  | { readonly state: 'members'; readonly members: readonly NodeId[] }
  /** The cursor could not be stored or history not read; the reader tries again. */
  | { readonly state: 'failed'; readonly error: unknown }
  /** The cursor has more ranges than fit. */
  | { readonly state: 'cursor-full'; readonly leftOut: number }
  /** The reader was moved with `resetReader`. */
  | { readonly state: 'reset' }
