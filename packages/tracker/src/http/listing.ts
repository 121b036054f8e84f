/** Limits of one answer. */
export const listingLimits = {
  /** Approximate bytes of the items of one answer; the rest is in the next. */
  maxAnswerBytes: 262_144,
  /** Ids that one search checks; the next search continues after them. */
  maxSearched: 20_000,
  /** A list of ids is reused for this long, in milliseconds, so that positions in it stay the same. */
  listFreshMs: 2_000,
} as const

/** Where to continue, and what was found so far. */
export interface Listed<Item> {
  /** For a list without search: its length. For a search: the number of items in this answer. */
  readonly total: number
  /** The offset of the next answer; null at the end. */
  readonly next: number | null
  readonly items: readonly Item[]
}

export interface ListingRequest<Id, Item> {
  readonly offset: number
  readonly limit: number
  /** Which ids to list; default: all. */
  readonly matches?: ((id: Id) => boolean) | undefined
  /** Returned without a search. */
  readonly exactly?: Id | undefined
  /** Undefined for one that no longer exists. */
  show(id: Id): Item | undefined
}

/**
 * A list that many clients page through: each answer costs a bounded amount of work and bytes, whatever the size of the
 * list.
 */
export class Listing<Id extends string> {
  readonly #source: { readonly size: number; keys(): Iterable<Id>; has(id: Id): boolean }
  #ids: readonly Id[] = []
  #madeAt = -Infinity

  constructor(source: { readonly size: number; keys(): Iterable<Id>; has(id: Id): boolean }) {
    this.#source = source
  }

  page<Item>(request: ListingRequest<Id, Item>, nowMs: number): Listed<Item> {
    const { offset, limit, matches, exactly, show } = request
    if (exactly !== undefined && this.#source.has(exactly)) {
      const item = show(exactly)
      return { total: 1, next: null, items: item === undefined || offset > 0 ? [] : [item] }
    }
    const ids = this.#fresh(nowMs)
    const items: Item[] = []
    let [at, bytes] = [offset, 0]
    const end = matches === undefined ? ids.length : Math.min(ids.length, offset + listingLimits.maxSearched)
    for (; at < end && items.length < limit && bytes < listingLimits.maxAnswerBytes; at++) {
      const id = ids[at] as Id
      if (matches !== undefined && !matches(id)) continue
      const item = show(id)
      if (item === undefined) continue
      items.push(item)
      bytes += JSON.stringify(item).length
    }
    const total = matches === undefined ? this.#source.size : items.length
    return { total, next: at < ids.length ? at : null, items }
  }

  /** Anew for whoever asks after a while. */
  #fresh(nowMs: number): readonly Id[] {
    if (nowMs - this.#madeAt < listingLimits.listFreshMs) return this.#ids
    this.#madeAt = nowMs
    return (this.#ids = [...this.#source.keys()])
  }
}
