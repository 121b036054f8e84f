import { toHex, type Clock, type Random, type StreamId } from '@runnel/protocol'
import type { Decoding } from '../content/decode.ts'
import { deadline, throwIfAborted } from '../deadline.ts'
import { clientError } from '../errors.ts'
import { checkOptions, checkTimeout, type OptionNames } from '../options.ts'
import { requirePermission, type PermissionModules } from '../permission.ts'
import type { Publisher, PublishOptions } from '../publish/publisher.ts'
import type { SideMessage, SidePart, SideParts } from '../side/side-part.ts'
import { AskerKeys } from './asker-keys.ts'
import { loadReplies } from './lazy-replies.ts'
import { requestLimits } from './limits.ts'
import type { FailedReply, PendingRequest, Reply } from './pending-request.ts'
import { decodeReply, replyPrefix } from './reply-message.ts'
import { requestHeader, requestIdBytes, requestTagText } from './request-header.ts'

/** How a request is published, how long it waits, and how replies are read. */
export interface RequestOptions<T = unknown>
  extends Omit<PublishOptions, 'timestamp' | 'key' | 'urgent'>, Pick<Decoding<T>, 'raw' | 'schema'> {
  /** Milliseconds from now on, including the time to join. Default 5,000. */
  readonly timeoutMs?: number | undefined
}

/** How a request to several responders is published, and when it ends. */
export interface RequestManyOptions<T = unknown> extends RequestOptions<T> {
  /** Ends after this many replies. At most and by default 1,000. */
  readonly maxReplies?: number | undefined
}

const requestOptions: OptionNames<RequestManyOptions> = {
  ...{ partition: true, partitionKey: true, headers: true, signal: true, bytesAre: true },
  ...{ raw: true, schema: true, timeoutMs: true, maxReplies: true },
}

export interface RequesterModules extends PermissionModules {
  readonly clock: Clock
  readonly random: Random
  readonly sides: SideParts
  readonly publisher: Pick<Publisher, 'publish'>
  /** Whether this client responds itself. */
  readonly responds: (streamId: StreamId) => boolean
  /** Aborted when the client closes. */
  readonly closing: AbortSignal
}

/** A request that is under way. */
interface Asking {
  readonly pending: PendingRequest
  end(): void
}

/** Asks in streams, and hears the replies. */
export class Requester {
  readonly #modules: RequesterModules
  readonly #keys: AskerKeys
  readonly #pending = new Map<string, PendingRequest>()
  /** Joined with the first request, so that the replies to later ones need not wait. */
  readonly #sides = new Map<StreamId, SidePart>()

  constructor(modules: RequesterModules) {
    this.#modules = modules
    const make = async () => (await loadReplies()).newReplyKeys()
    this.#keys = new AskerKeys({ clock: modules.clock, make })
  }

  /** The first reply. */
  async one(streamId: StreamId, content: unknown, options: RequestOptions): Promise<Reply> {
    const asking = await this.#ask(streamId, content, options)
    try {
      const { value } = await asking.pending.next()
      if (value === undefined) throw this.#unanswered(streamId, options)
      if (value.error !== undefined) throw value.error
      return value
    } finally {
      asking.end()
    }
  }

  /** Replies as they come, until the time is over. */
  async *many(
    streamId: StreamId,
    content: unknown,
    options: RequestManyOptions,
  ): AsyncGenerator<Reply | FailedReply, void, undefined> {
    const { maxReplies = requestLimits.maxReplies } = options
    const asking = await this.#ask(streamId, content, options)
    try {
      for (let count = 0; count < maxReplies; count++) {
        const { value } = await asking.pending.next()
        if (value !== undefined) yield value
        else {
          throwIfAborted(options.signal)
          return
        }
      }
    } finally {
      asking.end()
    }
  }

  /** Joined no longer for the replies of a stream, unless some are waited for. */
  leave(streamId: StreamId): void {
    const side = this.#sides.get(streamId)
    if (side === undefined || this.#pending.size > 0) return
    this.#sides.delete(streamId)
    this.#modules.sides.close(side)
  }

  async #ask(streamId: StreamId, content: unknown, options: RequestManyOptions): Promise<Asking> {
    checkOptions('request', options, requestOptions)
    const { clock, random, closing, publisher } = this.#modules
    const { timeoutMs = requestLimits.requestTimeoutMs, maxReplies: _, raw, schema, ...how } = options
    checkTimeout(timeoutMs)
    throwIfAborted(how.signal)
    if (this.#pending.size >= requestLimits.maxPendingRequests) throw clientError('TOO_MANY_REQUESTS')
    const { PendingRequest } = await loadReplies()
    const keys = await this.#keys.next()
    const requestId = random.bytes(requestIdBytes)
    const pending = new PendingRequest({ requestId, streamId, decoding: { raw, schema } }, { keys })
    const id = toHex(requestId)
    const limited = deadline(clock, timeoutMs, how.signal, closing)
    const asking: Asking = {
      pending,
      end: () => {
        this.#pending.delete(id)
        limited.end()
        pending.end()
      },
    }
    limited.signal.addEventListener('abort', asking.end, { once: true })
    this.#pending.set(id, pending)
    try {
      await this.#company(streamId, limited.signal)
      const text = requestTagText({ requestId, publicKey: keys.publicKey })
      const headers = { ...how.headers, [requestHeader]: text }
      await publisher.publish(streamId, content, { ...how, headers, signal: limited.signal })
      return asking
    } catch (error) {
      asking.end()
      if (limited.signal.aborted) throw this.#unanswered(streamId, options)
      throw error
    }
  }

  /** Joins what replies come by. Throws NO_RESPONDER where nobody else is in it. */
  async #company(streamId: StreamId, signal: AbortSignal): Promise<void> {
    const stream = await requirePermission('publish', streamId, this.#modules)
    throwIfAborted(signal)
    let side = this.#sides.get(streamId)
    if (side === undefined) {
      side = this.#modules.sides.open(stream)
      this.#sides.set(streamId, side)
      const replies = side
      side.on(replyPrefix, (message) => {
        if (replies.isOfReader(message)) void this.#hear(message, streamId)
      })
    }
    const hasCompany = await side.waitForNeighbour(signal)
    if (!hasCompany && !this.#modules.responds(streamId)) throw clientError('NO_RESPONDER', streamId)
  }

  async #hear(message: SideMessage, streamId: StreamId): Promise<void> {
    const sealed = decodeReply(message.content)
    const pending = sealed && this.#pending.get(toHex(sealed.requestId))
    if (pending === undefined || sealed === undefined) return
    // Whoever may only publish takes part in the key part, too; the registry was asked about each when its message came.
    const { cache, clock } = this.#modules
    const permissions = await cache.permissionsOf(streamId, message.publisherId).catch(() => undefined)
    if (permissions === undefined || permissions.subscribeUntilMs <= clock.now()) return
    await pending.take(message, sealed)
  }

  #unanswered(streamId: StreamId, { signal, timeoutMs = requestLimits.requestTimeoutMs }: RequestOptions) {
    if (signal?.aborted) return clientError('ABORTED', undefined, { cause: signal.reason })
    if (this.#modules.closing.aborted) return clientError('CLIENT_CLOSED')
    return clientError('REQUEST_TIMEOUT', `${streamId}, after ${timeoutMs} ms`)
  }
}
