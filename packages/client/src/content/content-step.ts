import type { MessageChain, MessageDraft, StreamMessage } from '@runnel/protocol'

/** The parts of a message that a step may change; the message's place and chain stay the same. */
export type MessageContent = Pick<
  MessageDraft,
  'contentType' | 'encryptionType' | 'groupKeyId' | 'extensions' | 'content'
>

/** Which messages a content step seals. */
export interface SealContext {
  readonly chain: MessageChain
  /** Aborted when the client closes. */
  readonly signal: AbortSignal
}

/** Which message a content step opens. */
export interface OpenContext {
  /** Aborted when the client closes; waiting steps must then reject at once. */
  readonly signal: AbortSignal
}

/**
 * Transforms content between the application and the wire: compression, encryption. Methods return a value, or a promise if they
 * need time. Callers keep the order of messages.
 */
export interface ContentStep {
  readonly name: string
  /**
   * Seals the messages of one batch: in order, with final places that are given once. Returns one content for each, or
   * `messages` itself if it changes nothing or changed them in place: they belong to this batch only, as does the result, which
   * a later step may change. If it throws, no message of the batch is sent, and their places are not used again.
   */
  seal(
    messages: readonly MessageDraft[],
    context: SealContext,
  ): readonly MessageContent[] | Promise<readonly MessageContent[]>
  /** Whether this step must open a message, as its header alone tells. Called for every message: it has to be fast. */
  isSealed(message: StreamMessage): boolean
  /**
   * Returns what `seal` was given. May be called for any messages in any order, several at a time. `message` comes from the
   * network, so the opened content must be bounded. If it throws, the subscriber is told of the error, and the message is left
   * out.
   */
  open(message: StreamMessage, context: OpenContext): MessageContent | Promise<MessageContent>
}
