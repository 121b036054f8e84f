import { EncryptionType, keyPartition, type NodeId, type RunnelError } from '@runnel/protocol'
import { decodeMessage, type Decoding } from '../content/decode.ts'
import { asError, clientError } from '../errors.ts'
import { BoundedQueue } from '../queue/bounded-queue.ts'
import type { SideMessage } from '../side/side-part.ts'
import type { Message } from '../subscribe/message.ts'
import { requestLimits } from './limits.ts'
import { decodeReplyContent, type ReplyMessage } from './reply-message.ts'
import type { ReplyKeys } from './reply-suite.ts'

/** A responder's answer, signed by the responder; only the asker can read it. */
export interface Reply<T = unknown> extends Pick<
  Message<T>,
  'publisherId' | 'timestamp' | 'contentType' | 'headers' | 'content'
> {
  readonly error?: undefined
}

/** A reply that failed: the responder's handler failed (REQUEST_FAILED), or its answer cannot be read. */
export interface FailedReply extends Pick<Message, 'publisherId' | 'timestamp'> {
  readonly error: RunnelError
}

/** One request that waits for replies. */
export class PendingRequest {
  readonly requestId: Uint8Array
  readonly keys: ReplyKeys
  readonly #streamId: string
  readonly #decoding: Decoding
  readonly #replies = new BoundedQueue<Reply | FailedReply>({
    maxItems: requestLimits.maxReplies,
    maxBytes: Infinity,
  })
  /** How many replies were tried, of each user and in all. */
  readonly #triedOf = new Map<NodeId, number>()
  #tried = 0
  /** Of the processes that replied, the chains: each replies once. */
  readonly #responders = new Set<string>()

  constructor(
    options: { readonly requestId: Uint8Array; readonly streamId: string; readonly decoding: Decoding },
    modules: { readonly keys: ReplyKeys },
  ) {
    this.requestId = options.requestId
    this.#streamId = options.streamId
    this.#decoding = options.decoding
    this.keys = modules.keys
  }

  /** The next reply; done when it ended. */
  next(): Promise<IteratorResult<Reply | FailedReply, undefined>> {
    return this.#replies.next()
  }

  /** Waits for no more replies. */
  end(): void {
    this.#replies.close()
  }

  /** A reply came, of somebody who may read the request. What does not open for this request and that user is nothing. */
  async take({ publisherId, messageChainId, place }: SideMessage, sealed: ReplyMessage): Promise<void> {
    const responder = `${publisherId} ${messageChainId}`
    if (this.#responders.has(responder) || !this.#mayTry(publisherId)) return
    const from = { responderId: publisherId, streamId: this.#streamId }
    const plaintext = await this.keys.open(this.requestId, from, sealed)
    const content = plaintext && decodeReplyContent(plaintext)
    if (content === undefined || this.#responders.has(responder)) return
    this.#responders.add(responder)
    const by = { publisherId, timestamp: place.timestamp }
    const failed = (error: RunnelError) => this.#replies.push({ ...by, error }, 0)
    if ('failure' in content) {
      failed(clientError('REQUEST_FAILED', `by ${publisherId}: ${readable(content.failure)}`))
      return
    }
    try {
      const message = decodeMessage(
        {
          ...{ streamId: this.#streamId as never, partition: keyPartition, publisherId, messageChainId },
          ...{ ...place, previous: undefined, encryptionType: EncryptionType.none, groupKeyId: '' },
          ...{ contentType: content.contentType, content: content.bytes },
        },
        this.#decoding,
      )
      const { contentType, headers, content: decoded } = message
      this.#replies.push({ ...by, contentType, headers, content: decoded }, 0)
    } catch (error) {
      failed(
        clientError('REPLY_UNREADABLE', `of ${publisherId}: ${asError(error).message}`, { cause: error }),
      )
    }
  }

  /** Opening takes time, and in a public stream anybody may send something. */
  #mayTry(userId: NodeId): boolean {
    const ofUser = this.#triedOf.get(userId) ?? 0
    if (ofUser >= requestLimits.maxRepliesOfUser || this.#tried >= requestLimits.maxReplies) return false
    this.#triedOf.set(userId, ofUser + 1)
    this.#tried++
    return true
  }
}

/** Somebody's text, in one line and not too long. */
function readable(text: string): string {
  return text.replace(/\p{C}+/gu, ' ').slice(0, requestLimits.maxFailureBytes)
}
