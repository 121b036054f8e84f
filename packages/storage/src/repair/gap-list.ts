import { Shares, type MessageChain, type StreamPartId } from '@runnel/protocol'
import { LRU } from 'tiny-lru'

/** Messages of one chain that this node has not received; times are the publisher's. */
export interface ChainGap {
  readonly streamPartId: StreamPartId
  readonly chain: MessageChain
  readonly fromMs: number
  readonly toMs: number
}

interface Entry extends ChainGap {
  readonly tries: number
}

interface Span {
  readonly fromMs: number
  readonly toMs: number
}

/**
 * Gaps to ask the other storage nodes about: one for each chain, within each publisher's share, and each range only once. Pure
 * data.
 */
export class GapList {
  readonly #maxTries: number
  readonly #entries = new Map<string, Entry>()
  readonly #shares: Shares<string>
  /** What was asked for lately, by chain; in order of age. */
  readonly #asked: LRU<Span>

  constructor({ max, maxTries }: { readonly max: number; readonly maxTries: number }) {
    this.#asked = new LRU(max)
    this.#maxTries = maxTries
    this.#shares = new Shares({ max, evict: 'newest' })
  }

  get size(): number {
    return this.#entries.size
  }

  /** Adds the part of a gap that was not asked for yet. False when nothing is left of it or there is no room. */
  add(gap: ChainGap): boolean {
    const key = keyOf(gap)
    const left = without(gap, this.#asked.peek(key))
    if (left === undefined) return false
    const known = this.#entries.get(key)
    const { fromMs, toMs } = known === undefined ? left : union(known, left)
    this.#entries.set(key, { ...gap, fromMs, toMs, tries: known?.tries ?? 0 })
    if (known !== undefined) return true
    for (const evicted of this.#shares.add(key, gap.chain.publisherId)) this.#entries.delete(evicted)
    return this.#entries.has(key)
  }

  /** One of each publisher: whoever has many waits the longer. */
  nextOnes(): readonly ChainGap[] {
    const byPublisher = new Map<string, ChainGap>()
    for (const entry of this.#entries.values()) {
      if (!byPublisher.has(entry.chain.publisherId)) byPublisher.set(entry.chain.publisherId, entry)
    }
    return [...byPublisher.values()]
  }

  /** It was asked for; when not all answered it is again, some times. */
  tried(gap: ChainGap, isDone: boolean): void {
    const key = keyOf(gap)
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    const tries = entry.tries + 1
    this.#entries.delete(key)
    if (!isDone && tries < this.#maxTries) {
      // At the end: others of the publisher come first.
      this.#entries.set(key, { ...entry, tries })
      return
    }
    this.#shares.delete(key)
    this.#remember(key, gap)
    // It has grown meanwhile.
    const rest = without(entry, gap)
    if (rest !== undefined) this.add({ ...entry, ...rest })
  }

  /** The stream part is kept no more. */
  forget(streamPartId: StreamPartId): void {
    for (const [key, entry] of this.#entries) {
      if (entry.streamPartId !== streamPartId) continue
      this.#entries.delete(key)
      this.#shares.delete(key)
    }
  }

  #remember(key: string, gap: Span): void {
    const known = this.#asked.peek(key)
    const touches = known !== undefined && gap.fromMs <= known.toMs && gap.toMs >= known.fromMs
    this.#asked.set(key, touches ? union(known, gap) : gap)
  }
}

function union(a: Span, b: Span): Span {
  return { fromMs: Math.min(a.fromMs, b.fromMs), toMs: Math.max(a.toMs, b.toMs) }
}

/** The part of a span outside another; if the other lies inside it, both sides remain uncut. */
function without(span: Span, asked: Span | undefined): Span | undefined {
  if (asked === undefined) return span
  // First, as a span may have no length, and lie at the edge of the other.
  if (span.fromMs >= asked.fromMs && span.toMs <= asked.toMs) return undefined
  if (span.toMs <= asked.fromMs || span.fromMs >= asked.toMs) return span
  if (span.fromMs < asked.fromMs && span.toMs > asked.toMs) return span
  return span.fromMs < asked.fromMs
    ? { fromMs: span.fromMs, toMs: asked.fromMs }
    : { fromMs: asked.toMs, toMs: span.toMs }
}

function keyOf({ streamPartId, chain }: ChainGap): string {
  return `${streamPartId} ${chain.publisherId} ${chain.messageChainId}`
}
