import {
  keyPartition,
  toNodeId,
  toStreamId,
  toStreamPartId,
  urgentChainPrefix,
  type MessageChain,
  type MessageRef,
  type NodeId,
  type StreamId,
  type StreamPartId,
  type WantedNeighbour,
} from '@runnel/protocol'
import { deadline, pause, throwIfAborted } from '../deadline.ts'
import { clientError, reasonOf, streamNotFound } from '../errors.ts'
import { checkTimeout } from '../options.ts'
import type { RegistryCache } from '../registry/registry-cache.ts'
import type { HistorySource } from './history-source.ts'
import { Slots } from './slots.ts'

/** The place of a message: the result of `publish`, or any delivered message. */
export interface MessagePlace extends MessageRef {
  readonly streamId: string
  readonly partition: number
  readonly publisherId: string
  readonly messageChainId: string
}

/** How many storage nodes to wait for, and how long. */
export interface WaitForStorageOptions {
  /** How many storage nodes must have each message. Default 1. */
  readonly count?: number | undefined
  /** Milliseconds to wait. Default 30,000. */
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

interface Awaited extends MessageRef, MessageChain {
  readonly streamPartId: StreamPartId
}

export interface StorageWaiterModules {
  readonly history: HistorySource
  readonly cache: RegistryCache
  /** Resolves when storage nodes have the keys of streams that were made here. */
  readonly keysStored: (streamIds: Iterable<StreamId>, signal: AbortSignal) => Promise<void>
}

/** Waits until storage nodes say that messages would survive them. */
export class StorageWaiter {
  readonly #modules: StorageWaiterModules
  /** Questions under way, and waiting for their turn, by storage node. */
  readonly #slots = new Map<NodeId, Slots>()

  constructor(modules: StorageWaiterModules) {
    this.#modules = modules
  }

  /** Throws NO_STORAGE_NODE, NOT_STORED_IN_TIME, STREAM_NOT_FOUND, INVALID_ARGUMENT or ABORTED. */
  async wait(
    messages: MessagePlace | readonly MessagePlace[],
    { count = 1, timeoutMs = 30_000, signal }: WaitForStorageOptions = {},
  ): Promise<void> {
    if (!Number.isInteger(count) || count < 1)
      throw clientError('INVALID_ARGUMENT', 'count is a whole number from 1')
    checkTimeout(timeoutMs)
    throwIfAborted(signal)
    const { history } = this.#modules
    const places = [messages].flat().map(toAwaited)
    if (places.some(({ messageChainId }) => messageChainId.startsWith(urgentChainPrefix)))
      throw clientError('INVALID_ARGUMENT', 'urgent messages are not stored: record them with client.record')
    const limited = deadline(history.sourceModules.clock, timeoutMs, signal, history.closing)
    // When one cannot be satisfied, the other waits end.
    const ending = new AbortController()
    try {
      const until = AbortSignal.any([limited.signal, ending.signal])
      await Promise.all(places.map((place) => this.#waitForOne(place, count, until)))
      await this.#waitForKeys(places, until)
    } catch (error) {
      throwIfAborted(signal)
      if (history.closing.aborted) throw clientError('CLIENT_CLOSED')
      throw error
    } finally {
      ending.abort()
      limited.end()
    }
  }

  /** A message is of use to those who can open it. */
  async #waitForKeys(places: readonly Awaited[], signal: AbortSignal): Promise<void> {
    const sealed = places.filter(({ partition }) => partition !== keyPartition)
    try {
      await this.#modules.keysStored(new Set(sealed.map(({ streamId }) => streamId)), signal)
    } catch (error) {
      if (!signal.aborted) throw error
      throw clientError('NOT_STORED_IN_TIME', 'the messages are stored, their keys are not', { cause: error })
    }
  }

  async #waitForOne(place: Awaited, count: number, signal: AbortSignal): Promise<void> {
    const { history, cache } = this.#modules
    const stream = await cache.getStream(place.streamId)
    if (stream === undefined) throw streamNotFound(place.streamId)
    const storageNodes = await history.directory.storageNodes(stream, place.partition, signal)
    if (storageNodes.length < count) {
      throw clientError('NO_STORAGE_NODE', `${stream.id} has ${storageNodes.length}, wanted are ${count}`)
    }
    let confirmed = 0
    const reasons: string[] = []
    const enough = new AbortController()
    const until = AbortSignal.any([signal, enough.signal])
    await Promise.all(
      storageNodes.map(async (peer) => {
        const reason = await this.#askUntilStored(peer, place, until)
        if (reason === undefined) confirmed++
        else reasons.push(`${peer.nodeId}: ${reason}`)
        // Or so few are left that there cannot be enough.
        if (confirmed >= count || storageNodes.length - reasons.length < count) enough.abort()
      }),
    )
    if (confirmed >= count) return
    const detail = `${confirmed} of ${count} for ${place.streamPartId}; ${reasons.join('; ')}`
    throw clientError('NOT_STORED_IN_TIME', detail)
  }

  /** Undefined when it is stored, else why it is not known to be, until the signal is aborted. */
  async #askUntilStored(
    peer: WantedNeighbour,
    place: Awaited,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { clock, limits } = this.#modules.history.sourceModules
    let reason = 'it has not answered'
    while (!signal.aborted) {
      const slots = this.#slotsOf(peer.nodeId)
      const leave = await slots.take(signal)
      if (leave === undefined) break
      try {
        const answer = await this.#ask(peer, place, signal)
        if (answer === '') return undefined
        // It was asked to keep the stream and does not: waiting changes nothing.
        if (answer?.startsWith('NOT_ACCEPTED') === true) return answer
        reason = answer ?? reason
      } finally {
        leave()
        if (slots.isIdle) this.#slots.delete(peer.nodeId)
      }
      if (!signal.aborted) await pause(clock, limits.awaitRetryMs, signal)
    }
    return reason
  }

  /** The code and text of the answer, empty when it is stored; undefined when there was none. */
  async #ask(peer: WantedNeighbour, place: Awaited, signal: AbortSignal): Promise<string | undefined> {
    const { requests, tokens } = this.#modules.history.sourceModules
    const { streamPartId, publisherId, messageChainId, timestamp, sequenceNumber } = place
    const packetOf = (requestId: number) => ({
      ...({ type: 'awaitStored', requestId, streamPartId, publisherId, messageChainId } as const),
      ...{ timestamp, sequenceNumber, token: tokens.tokenFor(peer.nodeId) },
    })
    try {
      const answer = await requests.askOnce(peer, streamPartId, packetOf, signal)
      return answer.type === 'stored' ? [answer.code, answer.text].filter(Boolean).join(': ') : answer.type
    } catch (error) {
      return signal.aborted ? undefined : reasonOf(error)
    }
  }

  #slotsOf(nodeId: NodeId): Slots {
    const slots = this.#slots.get(nodeId) ?? new Slots(this.#modules.history.limits.maxAwaitedPerNode)
    this.#slots.set(nodeId, slots)
    return slots
  }
}

function toAwaited(message: MessagePlace): Awaited {
  const { partition, messageChainId, timestamp, sequenceNumber } = message
  const streamId = toStreamId(message.streamId)
  const streamPartId = toStreamPartId(streamId, partition)
  const publisherId = toNodeId(message.publisherId)
  return { streamId, partition, streamPartId, publisherId, messageChainId, timestamp, sequenceNumber }
}
