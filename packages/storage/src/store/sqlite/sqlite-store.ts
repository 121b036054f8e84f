import Database from 'better-sqlite3'
import type { MessageBatch, MessageChain, MessageRef, NodeId, StreamPartId } from '@runnel/protocol'
import { storageError } from '../../errors.ts'
import type {
  LastMessages,
  MessageStore,
  PageCursor,
  PrunedBatches,
  PruneLimits,
  StoredPage,
  StoredRange,
  StreamPartUsage,
} from '../message-store.ts'
import type { StoredCard } from '../stored-cards.ts'
import { GroupCommit } from '../group-commit.ts'
import {
  delegationPlaceOf,
  neededDelegations,
  noDelegations,
  type EncodedDelegations,
} from '../stored-delegations.ts'
import type { ValuesPage } from './batch-reader.ts'
import { maxLogBytes } from './database.ts'
import { fromEntryCursor, toEntryCursor } from './entry-cursor.ts'
import type { readerOperations, writerOperations } from './operations.ts'
import { pack, transferOf, unpack } from './packing.ts'
import { messageFileIn } from './sqlite-file.ts'
import { StoreThread } from './store-thread.ts'
import { Turns } from './turns.ts'

export interface SqliteStoreOptions {
  /** Where `messages.sqlite` is, or will be. Made, for this user only, when it is not there. */
  readonly directory: string
  /** Bytes of batches that may wait for their commit; more is refused with STORE_OVERLOADED. */
  readonly maxWaitingBytes?: number
}

/** Default of `SqliteStoreOptions`. @documented */
export const sqliteStoreDefaults = {
  /** Bytes of batches that may wait for their commit. */
  maxWaitingBytes: 64 * 1024 * 1024,
}

/** No page is larger than this plus one batch, whatever is requested. */
const maxPageBytes = 8 * 1024 * 1024

/**
 * Keeps batches in one SQLite file. One thread commits, and others read meanwhile (WAL), so that neither a commit nor
 * a long scan holds up the caller's thread or one another. What is acknowledged is on the disk (synchronous=FULL).
 * What is pruned makes room for new messages; the file itself does not shrink.
 */
export class SqliteStore implements MessageStore {
  readonly location: string
  readonly #writer: StoreThread<ReturnType<typeof writerOperations>>
  /** For what is answered at once. */
  readonly #reader: StoreThread<ReturnType<typeof readerOperations>>
  /** For what counts through a lot. */
  readonly #counter: StoreThread<ReturnType<typeof readerOperations>>
  readonly #counts = new Turns()
  /** For a chain, which is looked for among all that its publisher has in that time. */
  readonly #searcher: StoreThread<ReturnType<typeof readerOperations>>
  readonly #searches = new Turns()
  readonly #commits: GroupCommit
  #contradictions = 0
  /** From this length on, the log is emptied; Infinity while it is. */
  #longLogBytes = maxLogBytes
  #isOpen = false
  #opening: Promise<void> | undefined

  constructor(options: SqliteStoreOptions) {
    this.location = messageFileIn(options.directory)
    const path = this.location
    this.#writer = new StoreThread({ role: 'writer', path })
    this.#reader = new StoreThread({ role: 'reader', path })
    this.#counter = new StoreThread({ role: 'reader', path })
    this.#searcher = new StoreThread({ role: 'reader', path })
    this.#commits = new GroupCommit(
      { maxWaitingBytes: options.maxWaitingBytes ?? sqliteStoreDefaults.maxWaitingBytes },
      async ({ batches, delegations }) => {
        const packed = pack(batches)
        const { contradictions, logBytes } = await this.#writer.call(
          'append',
          { batches: packed, delegations },
          transferOf(packed),
        )
        this.#contradictions += contradictions
        if (logBytes > this.#longLogBytes) void this.#emptyLog()
      },
    )
  }

  get contradictions(): number {
    return this.#contradictions
  }

  open(): Promise<void> {
    if (this.#isOpen) return Promise.resolve()
    this.#opening ??= this.#open().finally(() => (this.#opening = undefined))
    return this.#opening
  }

  async close(): Promise<void> {
    await this.#opening?.catch(() => {})
    this.#isOpen = false
    await this.#commits.idle()
    await this.#stopThreads()
  }

  async append(
    batches: readonly MessageBatch[],
    delegations: EncodedDelegations = noDelegations,
  ): Promise<void> {
    this.#requireOpen()
    if (batches.length === 0) return
    const needed = neededDelegations(batches, delegations)
    await this.#commits.add({ batches: batches.map(({ bytes }) => bytes), delegations: needed })
  }

  async delegationsOf(batches: readonly MessageBatch[]): Promise<EncodedDelegations> {
    this.#requireOpen()
    return this.#reader.call('delegations', batches.flatMap(delegationPlaceOf))
  }

  async read(
    range: StoredRange,
    options: { readonly maxBytes: number; readonly after?: PageCursor },
  ): Promise<StoredPage> {
    this.#requireOpen()
    const { streamPartId, from, to, publisherId, messageChainId } = range
    const request = {
      ...{ streamPartId, from, to, publisherId, messageChainId },
      maxBytes: Math.min(options.maxBytes, maxPageBytes),
      after: options.after === undefined ? undefined : fromEntryCursor(options.after),
    }
    const search = () => {
      this.#requireOpen()
      return this.#searcher.call('read', request)
    }
    const { batches, next } =
      messageChainId === undefined
        ? await this.#reader.call('read', request)
        : await this.#searches.run(streamPartId, search)
    return { batches: unpack(batches), next: next && toEntryCursor(next) }
  }

  async last(
    streamPartId: StreamPartId,
    count: number,
    filter: Pick<StoredRange, 'publisherId' | 'messageChainId'> = {},
    signal?: AbortSignal,
  ): Promise<LastMessages | undefined> {
    this.#requireOpen()
    const { publisherId, messageChainId } = filter
    const countBack = () => {
      this.#requireOpen()
      return this.#counter.call('last', { streamPartId, count, publisherId, messageChainId })
    }
    return this.#counts.run(streamPartId, countBack, signal)
  }

  async *values(
    streamPartId: StreamPartId,
    { tag, maxBytes }: { readonly tag?: Uint8Array | undefined; readonly maxBytes: number },
  ): AsyncGenerator<readonly Uint8Array[], void> {
    const request = { streamPartId, tag, maxBytes: Math.min(maxBytes, maxPageBytes) }
    let after: number | undefined = 0
    while (after !== undefined) {
      this.#requireOpen()
      const page: ValuesPage = await this.#reader.call('values', { ...request, after })
      yield unpack(page.batches)
      after = page.next
    }
  }

  async has(chain: MessageChain, place: MessageRef): Promise<boolean> {
    this.#requireOpen()
    const { timestamp, sequenceNumber } = place
    return this.#reader.call('has', { chain, place: { timestamp, sequenceNumber } })
  }

  async prune(streamPartId: StreamPartId, limits: PruneLimits): Promise<PrunedBatches> {
    const total = { batches: 0, bytes: 0 }
    let goneBeforeMs: number | undefined
    for (let complete = false; !complete;) {
      this.#requireOpen()
      const pruned = await this.#writer.call('prune', { streamPartId, ...limits })
      total.batches += pruned.batches
      total.bytes += pruned.bytes
      goneBeforeMs = pruned.goneBeforeMs ?? goneBeforeMs
      complete = pruned.complete
    }
    return { ...total, goneBeforeMs }
  }

  async usage(): Promise<readonly StreamPartUsage[]> {
    this.#requireOpen()
    return this.#counter.call('usage', undefined)
  }

  async getMark(name: string): Promise<string | undefined> {
    this.#requireOpen()
    return this.#reader.call('mark', name)
  }

  async setMark(name: string, value: string): Promise<void> {
    this.#requireOpen()
    await this.#writer.call('setMark', { name, value })
  }

  async putCard(card: StoredCard): Promise<void> {
    this.#requireOpen()
    await this.#writer.call('putCard', card)
  }

  async cardsOf(userIds: readonly NodeId[]): Promise<ReadonlyMap<NodeId, Uint8Array>> {
    this.#requireOpen()
    return this.#reader.call('cards', userIds)
  }

  async vouchFor(userId: NodeId): Promise<void> {
    this.#requireOpen()
    await this.#writer.call('vouchFor', userId)
  }

  async cardCount(): Promise<number> {
    this.#requireOpen()
    return this.#reader.call('cardCount', undefined)
  }

  async pruneCards(maxCards: number): Promise<number> {
    this.#requireOpen()
    return this.#writer.call('pruneCards', maxCards)
  }

  async #open(): Promise<void> {
    try {
      await this.#writer.call('open', undefined)
      keepAddonLoaded()
      // The other threads start with their first request: each is 10 MB or more.
      await this.#reader.call('open', undefined)
      this.#isOpen = true
    } catch (error) {
      await this.#stopThreads()
      throw error
    }
  }

  /**
   * SQLite begins its log anew when nobody reads what is in it, which never is the case while one count follows another. So nothing is
   * counted meanwhile, nor searched for.
   */
  async #emptyLog(): Promise<void> {
    this.#longLogBytes = Infinity
    const empty = async () => (this.#isOpen ? this.#writer.call('emptyLog', undefined) : 0)
    const emptied = this.#counts.run('', () => this.#searches.run('', empty))
    // What fails here fails in appends, too, and is said there.
    const leftBytes = await emptied.catch(() => maxLogBytes)
    // Of what another process reads, such as a backup: not with each append.
    this.#longLogBytes = Math.max(maxLogBytes, 2 * leftBytes)
  }

  #requireOpen(): void {
    if (!this.#isOpen) throw storageError('STORE_UNAVAILABLE', `${this.location} is not open`)
  }

  /** The writer last, which then writes the log back into the file. */
  async #stopThreads(): Promise<void> {
    await Promise.all([this.#reader, this.#counter, this.#searcher].map((reader) => reader.stop()))
    await this.#writer.stop()
  }
}

/**
 * Node unmaps a native add-on with the last thread that loaded it, unless the main thread has it too; code of it that is
 * called later crashes the process (https://github.com/WiseLibs/better-sqlite3/issues/1476). The first database loads it.
 * Throws SQLITE_MISSING.
 */
function keepAddonLoaded(): void {
  try {
    new Database(':memory:').close()
  } catch (cause) {
    const { platform, arch } = process
    throw storageError('SQLITE_MISSING', `better-sqlite3 for ${platform} ${arch}`, { cause })
  }
}
