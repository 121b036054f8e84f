import {
  ciphers,
  chainTagOf,
  limits,
  readerIdOf,
  toNodeId,
  type NodeId,
  type Random,
  type ReaderCursor,
  type StreamId,
} from '@runnel/protocol'
import { LRU } from 'tiny-lru'
import { anyOf, throwIfAborted } from '../deadline.ts'
import { requirePermission } from '../permission.ts'
import type { StreamInfo } from '../registry/ports.ts'
import { resend, type ResendModules } from '../resend/resend.ts'
import type { StorageWaiter } from '../resend/wait-for-storage.ts'
import type { SidePart, SideParts } from '../side/side-part.ts'
import type { Message } from '../subscribe/message.ts'
import type { Subscriber } from '../subscribe/subscriber.ts'
import { Progress } from './core/progress.ts'
import { ReaderCore } from './core/reader-core.ts'
import { Share } from './core/share.ts'
import { CursorStore } from './cursor-store.ts'
import { DurableReader, type DurableReaderModules } from './durable-reader.ts'
import { Group } from './group.ts'
import { readerLimits } from './limits.ts'
import {
  checkedName,
  checkedReader,
  startMs,
  type ReaderOptions,
  type ReaderStart,
} from './reader-options.ts'
import { watchRight } from './watch-right.ts'

export interface ReadersModules extends ResendModules {
  readonly nodeId: NodeId
  readonly random: Random
  readonly sides: SideParts
  readonly subscriber: Pick<Subscriber, 'subscribe'>
  readonly waiter: Pick<StorageWaiter, 'wait'>
}

/** What storage nodes keep of a reader. */
export interface StoredReader {
  readonly name: string
  /** Everything with an earlier timestamp is done. */
  readonly doneBeforeMs: number
  /** How many message chains have a finished message after that time. */
  readonly chains: number
}

/** What storage nodes have for a reader that is not done. */
export interface ReaderBacklog {
  /** Messages that are not done, of those that were looked at. */
  readonly messages: number
  /** Whether there is more than was looked at. */
  readonly hasMore: boolean
  /** How old the oldest of them is; 0 where all are done. */
  readonly oldestMs: number
}

/** The durable readers of one client. */
export class Readers {
  readonly #modules: ReadersModules
  readonly #open = new Set<DurableReader>()

  constructor(modules: ReadersModules) {
    this.#modules = modules
  }

  async open(streamId: StreamId, options: ReaderOptions): Promise<DurableReader> {
    const checked = checkedReader(options)
    const { signal } = options
    throwIfAborted(signal)
    const stream = await requirePermission('subscribe', streamId, this.#modules)
    const { sides, history, clock, nodeId } = this.#modules
    const side = sides.open(stream)
    const ending = new AbortController()
    const begun = anyOf(signal, history.closing)
    try {
      const store = this.#storeOf(checked.name, side)
      // First, so that what is written meanwhile is heard.
      await side.waitForNeighbour(begun)
      const stored = joined(await store.load(begun))
      const floorMs = stored?.floorMs ?? (await this.#beginMs(streamId, checked.start, begun))
      const cursor = stored ?? { generation: 0, floorMs, chains: [] }
      const share = new Share(nodeId, checked.spread)
      const core = this.#coreOf(cursor, checked, share)
      const reader: DurableReader = new DurableReader(
        { ...checked, streamId, partitions: stream.partitions, isNew: stored === undefined },
        {
          ...this.#feedModules(stream, options, ending.signal),
          ...{ clock, core, share, store, ending, listeners: options },
          tagOf: tags(),
          groupOf: checked.group
            ? (onChange) =>
                new Group(this.#idOf(streamId, checked.name), {
                  ...this.#modules,
                  ...this.#self,
                  side,
                  onChange,
                })
            : undefined,
          say: (news) => this.#modules.status.emit({ type: 'reader', streamId, name: checked.name, ...news }),
          onClosed: () => {
            signal?.removeEventListener('abort', onAbort)
            this.#open.delete(reader)
            sides.close(side)
          },
        },
      )
      const onAbort = () => reader.end()
      this.#open.add(reader)
      void watchRight(this.#modules.status, () => reader.look(), ending.signal)
      signal?.addEventListener('abort', onAbort, { once: true })
      await reader.start(begun).catch(async (error: unknown) => {
        await reader.close()
        throwIfAborted(signal)
        throw error
      })
      return reader
    } catch (error) {
      sides.close(side)
      throw error
    }
  }

  /** What storage nodes have of a reader; undefined where they have nothing. */
  async show(streamId: StreamId, name: string): Promise<StoredReader | undefined> {
    return this.#with(streamId, name, async (store) => {
      const cursor = joined(await store.load(this.#modules.history.closing))
      return cursor && { name, doneBeforeMs: cursor.floorMs, chains: cursor.chains.length }
    })
  }

  /** What of the stored messages is not done; undefined where storage nodes have nothing of the reader. */
  async backlog(streamId: StreamId, name: string, given?: AbortSignal): Promise<ReaderBacklog | undefined> {
    const signal = anyOf(given, this.#modules.history.closing)
    const cursor = await this.#with(streamId, name, async (store) => joined(await store.load(signal)))
    if (cursor === undefined) return undefined
    const done = new Progress(cursor)
    const tagOf = tags()
    const nowMs = this.#modules.clock.now()
    let [looked, messages, oldestMs, hasMore] = [0, 0, 0, false]
    const stored = resend(streamId, { from: cursor.floorMs }, { raw: true, signal }, this.#modules)
    for await (const message of stored) {
      hasMore = ++looked > readerLimits.maxBacklog
      if (hasMore) break
      if (done.has(tagOf(message), message)) continue
      messages++
      oldestMs = Math.max(oldestMs, nowMs - message.timestamp)
    }
    return { messages, hasMore, oldestMs }
  }

  /** Puts a reader elsewhere: one that runs goes on from there. */
  async reset(streamId: StreamId, name: string, start: ReaderStart): Promise<void> {
    await this.#with(streamId, name, async (store, side) => {
      const { history } = this.#modules
      const floorMs = await this.#beginMs(streamId, start, history.closing)
      await side.waitForNeighbour(history.closing)
      const known = joined(await store.load(history.closing))
      const generation = (known?.generation ?? 0) + 1
      await store.write({ generation, floorMs, chains: [] }, 0, history.closing)
    })
  }

  /** Has every reader store what was acknowledged, and ends it. */
  async close(): Promise<void> {
    await Promise.all([...this.#open].map((reader) => reader.close()))
  }

  /**
   * From which time on a reader reads. What is new begins after the newest that is stored, if that is before now: by a clock that is ahead, what is
   * published next would be old.
   */
  async #beginMs(streamId: StreamId, start: ReaderStart, signal: AbortSignal): Promise<number> {
    const beginMs = startMs(start, this.#modules.clock.now())
    if (start !== 'new') return beginMs
    let newestMs = -1
    const newest = resend(streamId, { last: 1 }, { raw: true, signal }, this.#modules)
    for await (const { timestamp } of newest) newestMs = Math.max(newestMs, timestamp)
    return Math.min(beginMs, newestMs + 1)
  }

  async #with<R>(
    streamId: StreamId,
    name: string,
    work: (store: CursorStore, side: SidePart) => Promise<R>,
  ): Promise<R> {
    checkedName(name)
    const { sides } = this.#modules
    const side = sides.open(await requirePermission('subscribe', streamId, this.#modules))
    try {
      return await work(this.#storeOf(name, side), side)
    } finally {
      sides.close(side)
    }
  }

  get #self(): { readonly userId: NodeId } {
    return { userId: this.#modules.user.userId }
  }

  #idOf(streamId: StreamId, name: string): Uint8Array {
    return readerIdOf(ciphers, streamId, name)
  }

  #storeOf(name: string, side: SidePart): CursorStore {
    const sequenceNumber = Math.floor(this.#modules.random.next() * 2 ** 32)
    const readerId = this.#idOf(side.stream.id, name)
    return new CursorStore({ readerId, sequenceNumber }, { ...this.#modules, ...this.#self, side })
  }

  #coreOf(
    cursor: ReaderCursor,
    options: ReturnType<typeof checkedReader>,
    share: Share,
  ): ReaderCore<Message> {
    const { maxReaderChains: maxChains } = readerLimits
    return new ReaderCore<Message>(
      cursor,
      { ...options, maxChains, maxRanges: limits.maxCursorRanges },
      { isMine: (message, tag) => share.isMine(message, tag) },
    )
  }

  #feedModules(
    { id }: StreamInfo,
    { raw, asBytes, schema }: ReaderOptions,
    signal: AbortSignal,
  ): Pick<DurableReaderModules, 'read' | 'subscribe' | 'readable'> {
    const { subscriber } = this.#modules
    return {
      read: (selection, listeners) =>
        resend(
          id,
          selection,
          listeners === undefined ? { raw: true, signal } : { raw, asBytes, schema, signal, ...listeners },
          this.#modules,
        ),
      subscribe: (options) =>
        subscriber.subscribe(id, { raw, asBytes, schema, signal, ...options }, undefined),
      readable: () => requirePermission('subscribe', id, this.#modules),
    }
  }
}

/** What several members stored, together; undefined where there is nothing. */
function joined(cursors: readonly ReaderCursor[]): ReaderCursor | undefined {
  if (cursors.length === 0) return undefined
  const generation = Math.max(...cursors.map((cursor) => cursor.generation))
  const progress = new Progress({ floorMs: 0, chains: [] })
  for (const cursor of cursors) if (cursor.generation === generation) progress.join(cursor)
  return progress.cursor(generation, Infinity).cursor
}

/** Chains whose tags are remembered. */
const maxKnownTags = 10_000

/** A tag takes a hash: one for each chain, and not for each message. */
function tags(): DurableReaderModules['tagOf'] {
  const known = new LRU<string>(maxKnownTags)
  return ({ partition, publisherId, messageChainId }) => {
    const key = `${partition} ${publisherId} ${messageChainId}`
    const tag =
      known.get(key) ?? chainTagOf(ciphers, { partition, publisherId: toNodeId(publisherId), messageChainId })
    known.set(key, tag)
    return tag
  }
}
