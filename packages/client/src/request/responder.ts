import { isRunnelError, toHex, type NodeId, type Random, type StreamId } from '@runnel/protocol'
import { LRU } from 'tiny-lru'
import { encodeContent } from '../content/encode.ts'
import { clientError, reasonOf } from '../errors.ts'
import type { OptionNames } from '../options.ts'
import type { StreamInfo } from '../registry/ports.ts'
import type { SidePart, SideParts } from '../side/side-part.ts'
import type { StatusHub } from '../status.ts'
import type { Message } from '../subscribe/message.ts'
import type { Subscriber, SubscribeOptions } from '../subscribe/subscriber.ts'
import type { Subscription } from '../subscribe/subscription.ts'
import { loadReplies } from './lazy-replies.ts'
import { requestLimits } from './limits.ts'
import {
  encodeReply,
  encodeReplyContent,
  replyInfo,
  replyPrefix,
  type ReplyContent,
} from './reply-message.ts'
import type { ReplySealer } from './reply-suite.ts'
import { requestTagIn, type RequestTag } from './request-header.ts'

/**
 * Returns the reply to a request, in any form that `publish` takes; undefined for no reply. An error it throws is told to the
 * asker.
 */
export type RequestHandler<T = unknown> = (request: Message<T>) => unknown

/** Which requests to answer, and how to read their content. */
export type RespondOptions<T = unknown> = Pick<
  SubscribeOptions<T>,
  'partitions' | 'schema' | 'signal' | 'onUndecodable' | 'onEnded'
>

export const respondOptions: OptionNames<RespondOptions> = {
  ...{ partitions: true, schema: true, signal: true, onUndecodable: true, onEnded: true },
}

/** Answers requests until `unsubscribe`; requests that are then being handled are still answered. */
export type Responding = Pick<
  Subscription,
  'streamId' | 'partitions' | 'streamPartIds' | 'waitForNeighbours' | 'counters' | 'unsubscribe'
> &
  AsyncDisposable

export interface ResponderModules {
  readonly userId: NodeId
  readonly random: Random
  readonly sides: SideParts
  readonly subscriber: Pick<Subscriber, 'subscribe'>
  readonly status: Pick<StatusHub, 'emit'>
}

/** Answers requests in streams. */
export class Responder {
  readonly #modules: ResponderModules
  /** Replies of this client are in one chain of each stream. */
  readonly #chain: string
  readonly #streams = new Map<StreamId, number>()
  /** By the asker's key and the stream. */
  readonly #sealers = new LRU<Promise<ReplySealer | undefined>>(requestLimits.maxAgreed)

  constructor(modules: ResponderModules) {
    this.#modules = modules
    this.#chain = `${replyPrefix}${toHex(modules.random.bytes(10))}`
  }

  isIn(streamId: StreamId): boolean {
    return this.#streams.has(streamId)
  }

  /** Answers what is asked from now on. */
  async respond(stream: StreamInfo, handler: RequestHandler, options: RespondOptions): Promise<Responding> {
    const { sides, subscriber } = this.#modules
    const side = sides.open(stream)
    try {
      // Before the first request, so that the reply need not wait.
      side.join()
      const how = { ...options, order: 'arrival' } as const
      const subscription = await subscriber.subscribe(stream.id, how, undefined)
      void this.#serve(subscription, handler, side)
      return subscription
    } catch (error) {
      sides.close(side)
      throw error
    }
  }

  async #serve(subscription: Subscription, handler: RequestHandler, side: SidePart): Promise<void> {
    const handled = new Set<Promise<void>>()
    this.#count(side.stream.id, 1)
    try {
      for await (const message of subscription) {
        const tag = requestTagIn(message.headers)
        if (tag === undefined) continue
        const done: Promise<void> = this.#answer(message, tag, handler, side).finally(() =>
          handled.delete(done),
        )
        handled.add(done)
        if (handled.size >= requestLimits.maxHandled) await Promise.race(handled)
      }
    } catch {
      // It may not read any more: a status, and `onEnded`, tell why.
    }
    this.#count(side.stream.id, -1)
    await Promise.all(handled)
    this.#modules.sides.close(side)
  }

  async #answer(request: Message, tag: RequestTag, handler: RequestHandler, side: SidePart): Promise<void> {
    const { status } = this.#modules
    const { streamId } = request
    const failed = (error: unknown) => status.emit({ type: 'callback-failed', streamId, error })
    let content: ReplyContent
    try {
      const answer = await handler(request)
      if (answer === undefined) return
      content = checkedContent(answer)
    } catch (error) {
      failed(error)
      content = { failure: reasonOf(error).slice(0, requestLimits.maxFailureBytes) }
    }
    const { requestId, publicKey } = tag
    const sealer = await this.#sealerFor(publicKey, streamId)
    const sealed = sealer?.seal(requestId, encodeReplyContent(content))
    if (sealed === undefined) return
    try {
      side.publish(this.#chain, encodeReply({ requestId, ...sealed }))
    } catch (error) {
      // The node is stopping, or its delegation has ended: the asker hears nothing.
      if (!isRunnelError(error)) throw error
      failed(error)
    }
  }

  #sealerFor(publicKey: Uint8Array, streamId: StreamId): Promise<ReplySealer | undefined> {
    const name = `${toHex(publicKey)} ${streamId}`
    const known = this.#sealers.get(name)
    if (known !== undefined) return known
    const info = replyInfo(this.#modules.userId, streamId)
    const sealer = loadReplies().then(({ newReplySealer }) => newReplySealer(publicKey, info))
    this.#sealers.set(name, sealer)
    sealer.catch(() => this.#sealers.delete(name))
    return sealer
  }

  #count(streamId: StreamId, by: 1 | -1): void {
    const count = (this.#streams.get(streamId) ?? 0) + by
    if (count > 0) this.#streams.set(streamId, count)
    else this.#streams.delete(streamId)
  }
}

function checkedContent(answer: unknown): ReplyContent {
  const content = encodeContent(answer)
  const { maxReplyBytes } = requestLimits
  if (content.bytes.length <= maxReplyBytes) return content
  throw clientError('MESSAGE_TOO_LARGE', `a reply of ${content.bytes.length} bytes, at most ${maxReplyBytes}`)
}
