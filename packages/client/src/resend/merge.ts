import {
  compareRefs,
  isSameSignature,
  laterPlace,
  messageBytes,
  placeOf,
  winsOver,
  type MessageBatch,
  type MessageRef,
  type StreamMessage,
} from '@runnel/protocol'
import TinyQueue from 'tinyqueue'
import { compare } from '../registry/order.ts'
import type { Verdict } from './batch-check.ts'
import { keyOfChain } from '../subscribe/chain-heads.ts'

export interface MergeLimits {
  readonly maxEvidence: number
  readonly maxHeldBytes: number
  readonly maxMergedChains: number
}

/** Where a message stands among all of its stream: by place, then partition, publisher and chain. */
export function compareMessages(a: StreamMessage, b: StreamMessage): number {
  return (
    compareRefs(a, b) ||
    a.partition - b.partition ||
    compare(a.publisherId, b.publisherId) ||
    compare(a.messageChainId, b.messageChainId)
  )
}

/** How far a chain was merged. */
interface ChainState {
  last: MessageRef | undefined
  /** Its batches held here. */
  held: number
}

/** A batch on its way through the merge. Whoever takes messages out checks it first, once. */
export interface MergedBatch {
  readonly source: number
  readonly batch: MessageBatch
  /** What the check came to; undefined before. */
  verdict: Verdict | undefined
}

/** Two batches that say different things of one place. */
export interface MergedContradiction {
  readonly place: MessageRef
  /** The one that was taken from; if its signature is good, it counts. */
  readonly winner: MergedBatch
  readonly loser: MergedBatch
}

interface Cursor extends MergedBatch {
  readonly chain: ChainState
  /** Its wanted messages, ascending, and the index of the next. */
  readonly messages: readonly StreamMessage[]
  at: number
}

/** The next message, if its batch is valid. */
export interface Candidate {
  readonly message: StreamMessage
  readonly from: MergedBatch
  /** The message of its chain that was taken before; undefined when none is known. */
  readonly after: MessageRef | undefined
}

/**
 * Merges sources into one sequence: sorted, each message once. Each source gives batches in the order of their first messages; so
 * once all have given one that begins later, no earlier message can follow. Beyond `maxHeldBytes` it is enough that all have come to
 * where the batch begins: then the order is kept only within each chain.
 */
export class BatchMerge {
  readonly #limits: MergeLimits
  /** Of the sources that may give more: where their newest batch begins. */
  readonly #reached = new Map<number, MessageRef | undefined>()
  /** Of two messages for one place the one that counts comes first. */
  readonly #cursors = new TinyQueue<Cursor>(
    [],
    (a, b) => compareMessages(nextOf(a), nextOf(b)) || compareContent(a, b),
  )
  /** In order of use. */
  readonly #chains = new Map<string, ChainState>()
  /** Of chains that were forgotten, nothing up to here is taken again. */
  #forgottenUpTo: MessageRef | undefined
  #heldBytes = 0
  /** Nothing before this can come; undefined while a source has given nothing. */
  #safeBefore: MessageRef | 'everything' | undefined = 'everything'
  #position: MessageRef | undefined
  /** The message taken last. */
  #taken: { readonly from: Cursor; readonly message: StreamMessage } | undefined
  #evidence = 0
  #contradictions: MergedContradiction[] = []
  #duplicates = 0
  #unordered = 0

  constructor(limits: MergeLimits) {
    this.#limits = limits
  }

  /** Place of the newest message taken. */
  get position(): MessageRef | undefined {
    return this.#position
  }

  /** Messages left out because another source had brought them, and batches that went out ahead of their turn. */
  get counters(): { readonly duplicates: number; readonly unordered: number } {
    return { duplicates: this.#duplicates, unordered: this.#unordered }
  }

  /** A source that will give batches. */
  add(source: number): void {
    this.#reached.set(source, undefined)
    this.#updateSafe()
  }

  /** A batch of a source and its wanted `messages`. */
  push(source: number, batch: MessageBatch, messages: readonly StreamMessage[]): void {
    const [first] = batch.messages
    if (first === undefined || !this.#reached.has(source)) return
    this.#reached.set(source, placeOf(first))
    this.#updateSafe()
    if (messages.length === 0) return
    for (const { content } of messages) this.#heldBytes += content.length
    const chain = this.#chainOf(batch)
    chain.held++
    this.#cursors.push({ source, batch, messages, at: 0, chain, verdict: undefined })
  }

  /** The source has ended; its batches stay. */
  end(source: number): void {
    this.#reached.delete(source)
    this.#updateSafe()
  }

  /** Sources whose next batch must be known before `next` can tell; none when it can. */
  behind(): readonly number[] {
    const next = this.#skipDuplicates()
    if (next !== undefined && this.#isSafe(next)) return []
    if (next !== undefined && this.#heldBytes > this.#limits.maxHeldBytes) {
      const lagging = this.#lagging()
      if (lagging.length === 0) this.#unordered++
      return lagging
    }
    return [...this.#reached.keys()].filter((source) => {
      const reached = this.#reached.get(source)
      return next === undefined || reached === undefined || compareRefs(reached, next) <= 0
    })
  }

  /** Sources that have not come to where the batch of the next message begins: they may have earlier messages of its chain. */
  #lagging(): readonly number[] {
    const begin = this.#cursors.peek()?.batch.messages[0]
    return [...this.#reached.keys()].filter((source) => {
      const reached = this.#reached.get(source)
      return begin !== undefined && (reached === undefined || compareRefs(reached, begin) < 0)
    })
  }

  /** The first message of all that are held; undefined when there is none. To be asked when no source is behind. */
  next(): Candidate | undefined {
    const message = this.#skipDuplicates()
    const from = this.#cursors.peek()
    if (message === undefined || from === undefined) return undefined
    return { message, from, after: from.chain.last }
  }

  /** Sources that have given the batch of the message that `next` told: all that have it, if none was behind. */
  holders(): ReadonlySet<number> {
    const least = this.#cursors.peek()
    const same = this.#cursors.data.filter(
      ({ chain, batch }) =>
        least !== undefined && chain === least.chain && isSameSignature(batch.bytes, least.batch.bytes),
    )
    return new Set(same.map(({ source }) => source))
  }

  /** Takes the message that `next` told. */
  take(): void {
    const cursor = this.#cursors.peek()
    if (cursor === undefined) return
    const message = nextOf(cursor)
    const place = placeOf(message)
    cursor.chain.last = place
    this.#taken = { from: cursor, message }
    this.#position = laterPlace(this.#position, place)
    this.#advance(cursor)
  }

  /** Drops the rest of the batch of the message that `next` returned. */
  discard(): void {
    const cursor = this.#cursors.pop()
    if (cursor === undefined) return
    cursor.chain.held--
    for (const { content } of cursor.messages.slice(cursor.at)) this.#heldBytes -= content.length
  }

  /** A message that came by another way counts as taken. */
  mark(message: StreamMessage): void {
    const chain = this.#chainOf({ chain: message })
    if (chain.last === undefined || compareRefs(message, chain.last) > 0) chain.last = placeOf(message)
  }

  #skipDuplicates(): StreamMessage | undefined {
    for (let cursor = this.#cursors.peek(); cursor !== undefined; cursor = this.#cursors.peek()) {
      const message = nextOf(cursor)
      if (cursor.chain.last === undefined || compareRefs(message, cursor.chain.last) > 0) return message
      this.#duplicates++
      this.#compare(cursor, message)
      this.#advance(cursor)
    }
    return undefined
  }

  /** Contradictions that came up since it was asked last: few of all. Signatures of the losers are not checked yet. */
  contradictions(): readonly MergedContradiction[] {
    return this.#contradictions.splice(0)
  }

  /** A contradiction was reported: both signatures are good. Forged ones use up nothing. */
  countEvidence(): void {
    this.#evidence++
  }

  /** A message that is left out: is it the one that was taken? */
  #compare(cursor: Cursor, message: StreamMessage): void {
    const taken = this.#taken
    if (taken === undefined || compareMessages(taken.message, message) !== 0) return
    if (isSameSignature(taken.from.batch.bytes, cursor.batch.bytes)) return
    const isSame = compareBytes(bytesOf(taken.from.batch, message), bytesOf(cursor.batch, message)) === 0
    if (isSame || this.#evidence + this.#contradictions.length >= this.#limits.maxEvidence) return
    this.#contradictions.push({ place: placeOf(message), winner: taken.from, loser: cursor })
  }

  /** Of the cursor that is first. */
  #advance(cursor: Cursor): void {
    this.#cursors.pop()
    this.#heldBytes -= nextOf(cursor).content.length
    cursor.at++
    if (cursor.at < cursor.messages.length) this.#cursors.push(cursor)
    else cursor.chain.held--
  }

  #isSafe(message: StreamMessage): boolean {
    if (this.#safeBefore === 'everything') return true
    return this.#safeBefore !== undefined && compareRefs(message, this.#safeBefore) < 0
  }

  #updateSafe(): void {
    let safe: MessageRef | 'everything' | undefined = 'everything'
    for (const reached of this.#reached.values()) {
      if (reached === undefined) {
        safe = undefined
        break
      }
      if (safe === 'everything' || compareRefs(reached, safe) < 0) safe = reached
    }
    this.#safeBefore = safe
  }

  #chainOf({ chain }: Pick<MessageBatch, 'chain'>): ChainState {
    const key = keyOfChain(chain)
    let state = this.#chains.get(key)
    if (state === undefined) {
      if (this.#chains.size >= this.#limits.maxMergedChains) this.#forgetOldest()
      state = { last: this.#forgottenUpTo, held: 0 }
    } else this.#chains.delete(key)
    this.#chains.set(key, state)
    return state
  }

  #forgetOldest(): void {
    for (const [key, { last, held }] of this.#chains) {
      if (held > 0) continue
      this.#chains.delete(key)
      if (last === undefined) return
      this.#forgottenUpTo = laterPlace(this.#forgottenUpTo, last)
      return
    }
  }
}

function nextOf({ messages, at }: Cursor): StreamMessage {
  return messages[at] as StreamMessage
}

/** Cursors at the same place: 0 when they say the same. */
function compareContent(a: Cursor, b: Cursor): number {
  if (isSameSignature(a.batch.bytes, b.batch.bytes)) return 0
  return compareBytes(bytesOf(a.batch, nextOf(a)), bytesOf(b.batch, nextOf(b)))
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  if (winsOver(a, b)) return -1
  return winsOver(b, a) ? 1 : 0
}

/** The bytes of the message that a batch has for a place. */
function bytesOf(batch: MessageBatch, place: MessageRef): Uint8Array {
  return messageBytes(
    batch,
    batch.messages.findIndex((message) => compareRefs(message, place) === 0),
  )
}
