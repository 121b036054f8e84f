import type { MessageBatch, MessageChain, MessageRef, NodeId, StreamPartId } from '@runnel/protocol'
import type { CardTable } from './stored-cards.ts'
import type { EncodedDelegations } from './stored-delegations.ts'

/** Which part of a stream part's messages. Both ends are inclusive. */
export interface StoredRange {
  readonly streamPartId: StreamPartId
  readonly from: MessageRef
  readonly to: MessageRef
  /** Only of this publisher. */
  readonly publisherId?: NodeId | undefined
  /** Only of this chain; goes with a publisher. */
  readonly messageChainId?: string | undefined
}

/** Where a page of a range ended: opaque, to be given back as it came. */
export type PageCursor = string

export interface StoredPage {
  /**
   * Batches as published, ordered by their first, then their last message; at equal places the engine chooses the order. They may
   * reach beyond the ends of the range.
   */
  readonly batches: readonly Uint8Array[]
  /** Undefined when there is nothing after this page. */
  readonly next: PageCursor | undefined
}

/** What is to be deleted. */
export interface PruneLimits {
  readonly olderThanMs?: number | undefined
  readonly maxBytes?: number | undefined
  /** Default: none stay. */
  readonly values?: KeptValues | undefined
  /** Of chains of cursors (`sideChains`), batches whose messages are all from before and that a later one of their chain replaces. Default: all stay. */
  readonly replacedBeforeMs?: number | undefined
}

/** What was deleted. */
export interface PrunedBatches {
  readonly batches: number
  readonly bytes: number
  /** For `maxBytes` all that began before this time was deleted, but perhaps last values; undefined when nothing was. */
  readonly goneBeforeMs?: number | undefined
}

/** The newest messages of a stream part. */
export interface LastMessages {
  /** Place of the oldest of them. */
  readonly from: MessageRef
  /** Place of the newest message stored. */
  readonly to: MessageRef
  /** How many there are: as many as asked for, or all. 0 when counting would read too much: then some more may be there. */
  readonly count: number
}

/** Which newest messages of keys stay however old they are. */
export interface KeptValues {
  /** Publisher's time of the oldest that may stay. */
  readonly fromMs: number
  /** Of so many keys of a stream part: those that changed longest ago go first. */
  readonly maxKeys: number
}

export interface StreamPartUsage {
  readonly streamPartId: StreamPartId
  readonly batches: number
  readonly messages: number
  /** As `countedBytes`. */
  readonly bytes: number
  /** Publisher's time of the oldest and newest message. */
  readonly oldestMs: number
  readonly newestMs: number
}

/**
 * Keeps batches, durably. Every engine passes the same conformance suite. All methods throw STORE_UNAVAILABLE,
 * STORE_FULL, STORE_READ_ONLY, STORE_CORRUPT, STORE_VERSION (when opening) or STORE_OVERLOADED, each naming the place
 * and the way out; none of them ends the process, and what failed may work when it is tried again. A batch is known
 * by its chain, first and last message: of two that have the same place there, that is kept which counts everywhere
 * (`contradictionOf`), whichever came first.
 */
export interface MessageStore extends CardTable {
  /** File or cluster, for messages to people; without secrets. */
  readonly location: string
  /** Batches appended, since it was made, that contradicted one that was stored. */
  readonly contradictions: number
  open(): Promise<void>
  /** Idempotent; what was appended before is finished first. */
  close(): Promise<void>
  /**
   * Resolves when all of it would survive a crash of the process and of the machine. A batch that is stored already changes
   * nothing. Of the delegations those are stored that the batches name, which must all be there (else INTERNAL), and are durable no
   * later than the batches.
   */
  append(batches: readonly MessageBatch[], delegations?: EncodedDelegations): Promise<void>
  /** The delegations that stored batches name. */
  delegationsOf(batches: readonly MessageBatch[]): Promise<EncodedDelegations>
  /** One page: at most about `maxBytes` of batches, at least one batch when there is one. */
  read(
    range: StoredRange,
    options: { readonly maxBytes: number; readonly after?: PageCursor },
  ): Promise<StoredPage>
  /**
   * Where the last `count` messages begin; undefined when there are none. Throws also what the signal says, unless it
   * is answered all the same.
   */
  last(
    streamPartId: StreamPartId,
    count: number,
    filter?: { readonly publisherId?: NodeId | undefined; readonly messageChainId?: string | undefined },
    signal?: AbortSignal,
  ): Promise<LastMessages | undefined>
  /**
   * The batches that have the newest message of each key (`keyTagIn`) of a stream part, or of one key: each once, in pages of about so many
   * bytes, in the engine's order. There may be more in them. What is appended meanwhile may be there or not;
   * what was deleted does not become a value again.
   */
  values(
    streamPartId: StreamPartId,
    options: { readonly tag?: Uint8Array | undefined; readonly maxBytes: number },
  ): AsyncGenerator<readonly Uint8Array[], void>
  /** Throws also TOO_COSTLY, when too many batches of the chain reach over the place. */
  has(chain: MessageChain, place: MessageRef): Promise<boolean>
  /** Deletes batches whose messages are all from before `olderThanMs` (publisher's time, Unix milliseconds), and then the oldest until at most `maxBytes` are left; with them the delegations that no batch left names. Batches with a message that is to stay by `values` are not too old, and go last. */
  prune(streamPartId: StreamPartId, limits: PruneLimits): Promise<PrunedBatches>
  usage(): Promise<readonly StreamPartUsage[]>
  /** Small facts beside the messages, by name (how far repair got). Undefined when never set. */
  getMark(name: string): Promise<string | undefined>
  setMark(name: string, value: string): Promise<void>
}
