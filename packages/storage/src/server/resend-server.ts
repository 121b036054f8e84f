import type { NetworkNode } from '@runnel/network'
import {
  decodeBatch,
  parseStreamPartId,
  type AskTable,
  type AwaitStored,
  type Clock,
  type DirectPacket,
  type MessageChain,
  type NodeId,
  type Resend,
  type ResendData,
  type ResendEnd,
  type Stored,
  type StreamPartId,
} from '@runnel/protocol'
import { storageError } from '../errors.ts'
import type { Access } from '../access.ts'
import type { Ingest } from '../ingest.ts'
import type { KnownDelegations } from '../known-delegations.ts'
import { extentOf, pagesOf, requireStored } from '../selection.ts'
import type { StorageLimits } from '../storage-limits.ts'
import type { MessageStore } from '../store/message-store.ts'
import type { EncodedDelegations } from '../store/stored-delegations.ts'
import { everyNowAndThen } from '../waiting.ts'
import type { Answers } from './answers.ts'
import { Credit } from './credit.ts'
import type { LinkRoom } from './link-room.ts'
import { linkGone, type LinkSignals } from './link-signals.ts'
import { refusalOf } from './refusal.ts'
import { Slots } from './slots.ts'
import { awaitStored } from './await-stored.ts'

export interface ResendServerOptions {
  readonly maxResends: number
  readonly limits: StorageLimits
}

export interface ResendServerModules {
  readonly network: Pick<NetworkNode, 'hold' | 'sendDirect'>
  readonly room: LinkRoom
  readonly links: LinkSignals
  readonly answers: Answers
  readonly store: MessageStore
  readonly ingest: Pick<Ingest, 'flushed' | 'whenStored'>
  readonly delegations: Pick<KnownDelegations, 'lackedBy' | 'makeKnown'>
  readonly access: Pick<
    Access,
    'requireSubscriber' | 'requireStillSubscriber' | 'requirePublisherOrSubscriber'
  >
  readonly clock: Clock
  /** Whether this node was asked to keep the stream part, and does. */
  readonly isKept: (streamPartId: StreamPartId) => boolean
  /** Whether it was asked to, and does not. */
  readonly isRefused: (streamPartId: StreamPartId) => boolean
  /** The oldest time for which messages of the stream part are kept. */
  readonly oldestMs: (streamPartId: StreamPartId) => Promise<number>
  /** The oldest time of its last values: they outlive their age, but not their stream. */
  readonly notBeforeMs: (streamPartId: StreamPartId) => Promise<number>
  /** Hears of what is not the asker's fault. */
  readonly onError: (error: unknown) => void
}

export interface ResendServerStatus {
  readonly active: number
  readonly served: number
  readonly failed: number
  readonly refused: number
  readonly cancelled: number
  readonly sentBatches: number
  readonly sentBytes: number
  readonly awaited: number
}

interface Session {
  readonly controller: AbortController
  readonly credit: Credit
}

/** Of a `resendData` body, before the batch. */
const requestIdBytes = 4

/** Answers what other nodes ask over their links: `resend`, `askTable` and `awaitStored`. */
export class ResendServer {
  readonly #options: ResendServerOptions
  readonly #modules: ResendServerModules
  readonly #slots: Slots
  readonly #awaiting: Slots
  readonly #sessions = new Map<NodeId, Map<number, Session>>()
  readonly #running = new Set<Promise<void>>()
  readonly #counters = { served: 0, failed: 0, refused: 0, cancelled: 0, sentBatches: 0, sentBytes: 0 }
  #stopped = false

  constructor(options: ResendServerOptions, modules: ResendServerModules) {
    const { limits, maxResends } = options
    this.#options = options
    this.#modules = modules
    this.#slots = new Slots({ total: maxResends, perPeer: limits.maxResendsPerPeer })
    this.#awaiting = new Slots({ total: limits.maxAwaited, perPeer: limits.maxAwaitedPerPeer })
  }

  /** Takes every packet of a direct link and ignores those that are not requests. */
  handle(peerId: NodeId, packet: DirectPacket): void {
    switch (packet.type) {
      case 'resend':
        this.#run(() => this.#resend(peerId, packet))
        return
      case 'askTable':
        this.#run(() => this.#resend(peerId, packet))
        return
      case 'awaitStored':
        this.#run(() => this.#awaitStored(peerId, packet))
        return
      case 'resendMore':
        this.#sessions.get(peerId)?.get(packet.requestId)?.credit.add(packet.bytes)
        return
      case 'resendCancel':
        this.#cancel(peerId, packet.requestId)
        return
      case 'resendStart':
      case 'resendData':
      case 'resendEnd':
      case 'stored':
      case 'keepCard':
      case 'askCards':
      case 'cards':
    }
  }

  status(): ResendServerStatus {
    return { active: this.#slots.taken, awaited: this.#awaiting.taken, ...this.#counters }
  }

  /** Tells every asker that it ends here. Idempotent. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#modules.links.end(storageError('SHUTTING_DOWN'))
    await Promise.all(this.#running)
  }

  #run(task: () => Promise<void>): void {
    const running: Promise<void> = task().catch((error: unknown) => this.#modules.onError(error))
    this.#running.add(running)
    void running.finally(() => this.#running.delete(running))
  }

  #cancel(peerId: NodeId, requestId: number): void {
    const session = this.#sessions.get(peerId)?.get(requestId)
    if (session === undefined) return
    this.#counters.cancelled++
    session.controller.abort(cancelled)
  }

  async #resend(peerId: NodeId, request: Resend | AskTable): Promise<void> {
    const { network, answers } = this.#modules
    const { requestId } = request
    const release = this.#slots.take(peerId)
    const isRepeated = this.#sessions.get(peerId)?.has(requestId) === true
    if (release === undefined || isRepeated || this.#stopped) {
      release?.()
      this.#counters.refused++
      if (isRepeated) this.#cancel(peerId, requestId)
      this.#counters.failed++
      return this.#refuse(peerId, { type: 'resendEnd', requestId })
    }
    const session = this.#open(peerId, request)
    const letGo = network.hold(peerId)
    try {
      const error = await this.#serve(peerId, request, session).then(() => undefined, asReason)
      if (error === linkGone || error === cancelled) return
      this.#counters[error === undefined ? 'served' : 'failed']++
      const end = { type: 'resendEnd', requestId, ...this.#outcomeOf(error) } as const
      await answers.send(peerId, end, session.controller.signal)
    } finally {
      this.#close(peerId, requestId)
      letGo()
      release()
    }
  }

  async #serve(peerId: NodeId, request: Resend | AskTable, { credit, controller }: Session): Promise<void> {
    const { store, access, ingest, clock, room, delegations, notBeforeMs } = this.#modules
    const { limits } = this.#options
    const { requestId, streamPartId, token } = request
    const { signal } = controller
    const asker = { requesterId: peerId, token }
    await access.requireSubscriber(streamPartId, asker)
    await requireStored(this.#modules, streamPartId)
    // What has arrived and is not stored yet belongs to what is asked for.
    await ingest.flushed(limits.flushMs)
    const pages =
      request.type === 'resend'
        ? await this.#begin(peerId, request, signal)
        : store.values(streamPartId, { tag: request.tag, maxBytes: limits.pageBytes })
    if (pages === undefined) return
    // Values of an earlier stream of the same id are there until they are pruned.
    const fromMs = request.type === 'askTable' ? await notBeforeMs(streamPartId) : 0
    const recheck = everyNowAndThen(clock, limits.recheckMs, () =>
      access.requireStillSubscriber(streamPartId, asker),
    )
    for await (const page of pages) {
      const batches = page
        .map((bytes) => decodeBatch(bytes))
        .filter(({ messages }) => (messages.at(-1)?.timestamp ?? 0) >= fromMs)
      const lacked = await delegations.lackedBy(batches, store)
      for (const batch of batches) {
        await credit.available(signal)
        await recheck()
        const isSent = await this.#send(peerId, { type: 'resendData', requestId, batch }, lacked, signal)
        if (isSent) credit.spend(requestIdBytes + batch.bytes.length)
      }
      await room.wait(peerId, signal)
    }
  }

  /** Tells what a resend comes to, and gives its batches; undefined when there are none. */
  async #begin(
    peerId: NodeId,
    request: Resend,
    signal: AbortSignal,
  ): Promise<AsyncGenerator<readonly Uint8Array[], void> | undefined> {
    const { store, network, room, oldestMs } = this.#modules
    const { requestId, streamPartId, publisherId, messageChainId } = request
    const extent = await extentOf(store, request, await oldestMs(streamPartId), signal)
    signal.throwIfAborted()
    const start = { type: 'resendStart', requestId, ...(extent ?? nothing) } as const
    while (!network.sendDirect(peerId, start)) await room.wait(peerId, signal)
    if (extent === undefined) return undefined
    const range = { streamPartId, from: extent.from, to: extent.to, publisherId, messageChainId }
    return pagesOf(store, range, this.#options.limits.pageBytes)
  }

  /**
   * Sends a batch once there is room. The node sends its delegation first if the peer lacks it, and has to know it for that. False for one that
   * was deleted with its delegation since its page was read: nobody could verify it.
   */
  async #send(
    peerId: NodeId,
    packet: ResendData,
    lacked: EncodedDelegations,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { network, room, store, delegations } = this.#modules
    const { batch } = packet
    for (;;) {
      // It may have been forgotten since the page was read.
      const isKnown =
        delegations.makeKnown(batch, lacked) ||
        delegations.makeKnown(batch, await store.delegationsOf([batch]))
      if (!isKnown) return false
      if (network.sendDirect(peerId, packet)) break
      await room.wait(peerId, signal)
    }
    this.#counters.sentBatches++
    this.#counters.sentBytes += batch.bytes.length
    return true
  }

  async #awaitStored(peerId: NodeId, request: AwaitStored): Promise<void> {
    const { network, answers, links } = this.#modules
    const { requestId } = request
    const release = this.#awaiting.take(peerId)
    if (release === undefined || this.#stopped) {
      release?.()
      this.#counters.refused++
      return this.#refuse(peerId, { type: 'stored', requestId })
    }
    const letGo = network.hold(peerId)
    const signal = links.of(peerId)
    try {
      const error = await this.#whenStored(peerId, request, signal).catch(asReason)
      if (error === linkGone) return
      await answers.send(peerId, { type: 'stored', requestId, ...this.#outcomeOf(error) }, signal)
    } finally {
      letGo()
      release()
    }
  }

  async #whenStored(peerId: NodeId, request: AwaitStored, signal: AbortSignal): Promise<void> {
    const { access, isRefused } = this.#modules
    const { streamPartId, token, publisherId, messageChainId } = request
    await access.requirePublisherOrSubscriber(streamPartId, publisherId, { requesterId: peerId, token })
    if (isRefused(streamPartId)) throw storageError('NOT_ACCEPTED', streamPartId)
    const chain: MessageChain = { ...parseStreamPartId(streamPartId), publisherId, messageChainId }
    const maxMs = this.#options.limits.awaitStoredMs
    await awaitStored(chain, request, { maxMs, signal }, this.#modules)
  }

  /** There are too many, or this ends. */
  #refuse(
    peerId: NodeId,
    answer: Pick<ResendEnd, 'type' | 'requestId'> | Pick<Stored, 'type' | 'requestId'>,
  ): Promise<void> {
    const refusal = storageError(this.#stopped ? 'SHUTTING_DOWN' : 'TOO_MANY_REQUESTS')
    const { answers, links } = this.#modules
    return answers.sendUncounted(peerId, { ...answer, ...this.#outcomeOf(refusal) }, links.of(peerId))
  }

  #open(peerId: NodeId, { requestId, windowBytes }: Resend | AskTable): Session {
    const { limits } = this.#options
    const controller = new AbortController()
    const link = this.#modules.links.of(peerId)
    link.addEventListener('abort', () => controller.abort(link.reason), {
      signal: controller.signal,
    })
    const credit = new Credit(
      { windowBytes, maxBytes: limits.maxWindowBytes, idleMs: limits.idleMs },
      { clock: this.#modules.clock },
    )
    const session = { controller, credit }
    const sessions = this.#sessions.get(peerId) ?? new Map<number, Session>()
    this.#sessions.set(peerId, sessions.set(requestId, session))
    return session
  }

  #close(peerId: NodeId, requestId: number): void {
    const sessions = this.#sessions.get(peerId)
    // Lets go of the listener on the link.
    sessions?.get(requestId)?.controller.abort(cancelled)
    sessions?.delete(requestId)
    if (sessions?.size === 0) this.#sessions.delete(peerId)
  }

  #outcomeOf(error: unknown): { code: string; text: string } {
    if (error === undefined) return { code: '', text: '' }
    const refusal = refusalOf(error)
    if (refusal.isOurs) this.#modules.onError(error)
    return { code: refusal.code, text: refusal.text }
  }
}

const nothing = {
  from: { timestamp: 0, sequenceNumber: 0 },
  to: { timestamp: 0, sequenceNumber: 0 },
  count: 0,
}
const asReason = (reason: unknown): unknown => reason
const cancelled = new Error('cancelled')
