import {
  cursorChain,
  cursorPrefix,
  decodeCursor,
  encodeCursor,
  isRunnelError,
  keyPartition,
  type MessageRef,
  type NodeId,
  type ReaderCursor,
} from '@runnel/protocol'
import { maxAheadMs } from '../publish/message-clock.ts'
import type { HistorySource } from '../resend/history-source.ts'
import type { StorageWaiter } from '../resend/wait-for-storage.ts'
import { sideMessageIn, type SideMessage, type SidePart } from '../side/side-part.ts'
import { readerLimits } from './limits.ts'

export interface CursorStoreModules {
  readonly userId: NodeId
  readonly side: SidePart
  readonly history: Pick<HistorySource, 'plan' | 'read'>
  readonly waiter: Pick<StorageWaiter, 'wait'>
}

export interface CursorStoreOptions {
  readonly readerId: Uint8Array
  /** Of what this process writes, so that it takes the place of no other. */
  readonly sequenceNumber: number
}

/** The cursors of a reader: one message chain in the stream's key part for each slot, of which the newest message counts. */
export class CursorStore {
  readonly #options: CursorStoreOptions
  readonly #modules: CursorStoreModules
  /** The newest message known of each chain. */
  readonly #newest = new Map<string, MessageRef>()

  constructor(options: CursorStoreOptions, modules: CursorStoreModules) {
    this.#options = options
    this.#modules = modules
  }

  /** The cursors that storage nodes have, of all slots. Throws NO_STORAGE_NODE, RESEND_FAILED, RESEND_DENIED, ABORTED, or what the registry throws. */
  async load(signal: AbortSignal): Promise<readonly ReaderCursor[]> {
    const { history, side, userId } = this.#modules
    const plan = await history.plan(side.stream, [keyPartition], signal)
    const slots = Array.from({ length: readerLimits.maxGroupMembers }, (_, slot) => slot)
    const found = slots.map(async (slot) => {
      const messageChainId = cursorChain(this.#options.readerId, slot)
      const wanted = { publisherId: userId, messageChainId, selection: { kind: 'last', count: 1 } as const }
      const cursors: ReaderCursor[] = []
      for await (const run of history.read(plan, wanted, { signal, onGap: () => {} }))
        for (const message of run) {
          const cursor = this.#cursorIn(sideMessageIn(message))
          if (cursor !== undefined) cursors.push(cursor)
        }
      return cursors
    })
    return (await Promise.all(found)).flat()
  }

  /** Calls back for each cursor of the reader that is published, until the returned function is called. */
  listen(onCursor: (cursor: ReaderCursor) => void): () => void {
    return this.#modules.side.on(cursorPrefix(this.#options.readerId), (message) => {
      const cursor = this.#cursorIn(message)
      if (cursor !== undefined) onCursor(cursor)
    })
  }

  /** Publishes a cursor in the chain of a slot. Resolves when a storage node has it; throws what `waitForStorage` throws. */
  async write(cursor: ReaderCursor, slot: number, signal: AbortSignal): Promise<{ readonly bytes: number }> {
    const { side, waiter } = this.#modules
    await side.waitForNeighbour(signal)
    const chain = cursorChain(this.#options.readerId, slot)
    const content = encodeCursor(cursor)
    const { sequenceNumber } = this.#options
    const place = side.publish(chain, content, { after: this.#newest.get(chain), sequenceNumber })
    await waiter.wait(place, { timeoutMs: readerLimits.cursorStoredMs, signal })
    return { bytes: content.length }
  }

  /**
   * Undefined where it is none of this user, or of a delegate that may not read for it, of a later version, or done with what is not
   * published yet.
   */
  #cursorIn(message: SideMessage | undefined): ReaderCursor | undefined {
    const { side, userId } = this.#modules
    if (message?.publisherId !== userId || !side.isOfReader(message)) return undefined
    const { messageChainId, place, content } = message
    const known = this.#newest.get(messageChainId)
    if (known === undefined || known.timestamp < place.timestamp) this.#newest.set(messageChainId, place)
    try {
      const cursor = decodeCursor(content)
      // What is published later would never be delivered.
      return cursor.floorMs > place.timestamp + maxAheadMs ? undefined : cursor
    } catch (error) {
      if (!isRunnelError(error)) throw error
      return undefined
    }
  }
}
