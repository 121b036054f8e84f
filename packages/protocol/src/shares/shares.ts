import { noEntries } from './no-entries.ts'

export interface SharesOptions {
  /** Units that all causes hold together. */
  readonly max: number
  /** Which item of the heaviest cause goes: its `newest`, so that what is established stays, or its `oldest`, as in a cache. */
  readonly evict: 'newest' | 'oldest'
}

/** Of one item. One that is used gets another place, so that it can be seen which is its newest. */
interface Place<Item> {
  readonly item: Item
  readonly share: Share<Item>
  readonly weight: number
}

/** What one cause holds, oldest first. */
interface Share<Item> {
  readonly cause: string
  held: number
  readonly items: Set<Item>
  /** Where the newest goes: the places as they were given. One that is not its item's place any more counts no more. */
  uses: Place<Item>[]
}

/**
 * A limited table, shared out by who causes the cost: a connection, a network of addresses, a node, a publisher, an owner.
 * While there is room everybody takes what they want. When it is full, the cause that holds most gives way, so that nobody
 * can take what others need: with n causes each can have max / n (max-min fairness).
 *
 * An item that belongs to the heaviest cause itself finds no room (`newest`), or takes that of its cause's oldest (`oldest`).
 * Between causes that hold as much as each other the newcomer's gives way, so that no two push each other out in turn.
 */
export class Shares<Item> {
  readonly #options: SharesOptions
  #places: Map<Item, Place<Item>> = noEntries()
  #shares: Map<string, Share<Item>> = noEntries()
  #held = 0

  constructor(options: SharesOptions) {
    this.#options = options
  }

  /** Units held by all. */
  get held(): number {
    return this.#held
  }

  get size(): number {
    return this.#places.size
  }

  has(item: Item): boolean {
    return this.#places.has(item)
  }

  /** Units that a cause holds. */
  heldBy(cause: string): number {
    return this.#shares.get(cause)?.held ?? 0
  }

  /**
   * Takes a place of `weight` units (more than 0) for an item that has none. Returns the items that lost theirs, which is
   * `[item]` when it is refused. Linear in the causes while the table is full, constant otherwise.
   */
  add(item: Item, cause: string, weight = 1): readonly Item[] {
    if (this.#places === noEntries<Item, Place<Item>>()) {
      this.#places = new Map()
      this.#shares = new Map()
    }
    let share = this.#shares.get(cause)
    if (share === undefined) this.#shares.set(cause, (share = { cause, held: 0, items: new Set(), uses: [] }))
    share.items.add(item)
    share.held += weight
    this.#held += weight
    this.#give({ item, share, weight })
    const evicted: Item[] = []
    while (this.#held > this.#options.max) {
      const victim = this.#victim(share)
      this.delete(victim)
      evicted.push(victim)
    }
    return evicted
  }

  /** The item was used: of its cause it is the newest from now on. */
  touch(item: Item): void {
    const place = this.#places.get(item)
    if (place === undefined) return
    place.share.items.delete(item)
    place.share.items.add(item)
    this.#give({ ...place })
  }

  /** Gives a place back; false when the item has none. */
  delete(item: Item): boolean {
    const place = this.#places.get(item)
    if (place === undefined) return false
    this.#places.delete(item)
    const { share, weight } = place
    this.#held -= weight
    share.items.delete(item)
    share.held -= weight
    if (share.items.size === 0) this.#shares.delete(share.cause)
    return true
  }

  #victim(newcomer: Share<Item>): Item {
    let heaviest = newcomer
    for (const share of this.#shares.values()) if (share.held > heaviest.held) heaviest = share
    if (this.#options.evict === 'newest') return this.#newestOf(heaviest)
    const [oldest] = heaviest.items
    return oldest as Item
  }

  #give(place: Place<Item>): void {
    const { item, share } = place
    this.#places.set(item, place)
    if (this.#options.evict === 'oldest') return
    share.uses.push(place)
    // As many as were added: constant on average.
    if (share.uses.length > 2 * share.items.size + 16)
      share.uses = share.uses.filter((use) => this.#isNewest(use))
  }

  #isNewest(place: Place<Item>): boolean {
    return this.#places.get(place.item) === place
  }

  #newestOf(share: Share<Item>): Item {
    for (;;) {
      const use = share.uses.at(-1)
      if (use === undefined) throw new Error('a cause that holds nothing')
      if (this.#isNewest(use)) return use.item
      share.uses.pop()
    }
  }
}
