/** Bounds of one answer. */
export const listingLimits = {
  /** Bytes of the items of one answer, roughly; what comes after them is in the next. */
  maxAnswerBytes: 262_144,
  /** Ids that one search looks at; what comes after them the next one does. */
  maxSearched: 20_000,
  /** A list of ids is used again for this long, in milliseconds: positions in it stay what they are. */
  listFreshMs: 2_000,
} as const

/** Where to go on, and what was found until there. */
export interface Listed<Item> {
  /** Of a list that is not searched: how many there are. Of a search: how many this answer has. */
  readonly total: number
  /** The offset of the next answer; null at the end. */
  readonly next: number | null
  readonly items: readonly Item[]
}

export interface ListingRequest<Id, Item> {
  readonly offset: number
  readonly limit: number
  /** Which ids are looked for; default: all. */
  readonly matches?: ((id: Id) => boolean) | undefined
  /** Found without looking for it. */
  readonly exactly?: Id | undefined
  /** Undefined for what is gone. */
  show(id: Id): Item | undefined
}

/** A list that many ask for pages of: each answer costs a bounded amount of work and bytes, whatever the list has become. */
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
