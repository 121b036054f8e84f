import { noEntries } from './no-entries.ts'

export interface SharesOptions {
  /** Units that all causes hold together. */
  readonly max: number
  /** Which item of the heaviest cause goes: its `newest`, so that what is established stays, or its `oldest`, as in a cache. */
  readonly evict: 'newest' | 'oldest'
}

interface Place {
  readonly cause: string
  readonly weight: number
  /** Later than those of all that were added or used before. */
  turn: number
}

/** What one cause holds, oldest first. */
interface Share<Item> {
  held: number
  readonly items: Set<Item>
  /** Where the newest goes: the items as they came and were used. One that is not at its own turn counts no more. */
  uses: { readonly item: Item; readonly turn: number }[]
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
  #places: Map<Item, Place> = noEntries()
  #shares: Map<string, Share<Item>> = noEntries()
  #held = 0
  #turn = 0

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
    if (this.#places === noEntries<Item, Place>()) {
      this.#places = new Map()
      this.#shares = new Map()
    }
    let share = this.#shares.get(cause)
    if (share === undefined) this.#shares.set(cause, (share = { held: 0, items: new Set(), uses: [] }))
    share.items.add(item)
    share.held += weight
    this.#held += weight
    const place = { cause, weight, turn: 0 }
    this.#places.set(item, place)
    this.#used(item, place, share)
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
    const share = place && this.#shares.get(place.cause)
    if (place === undefined || share === undefined) return
    share.items.delete(item)
    share.items.add(item)
    this.#used(item, place, share)
  }

  /** Gives a place back; false when the item has none. */
  delete(item: Item): boolean {
    const place = this.#places.get(item)
    if (place === undefined) return false
    this.#places.delete(item)
    this.#held -= place.weight
    const share = this.#shares.get(place.cause) as Share<Item>
    share.items.delete(item)
    share.held -= place.weight
    if (share.items.size === 0) this.#shares.delete(place.cause)
    return true
  }

  #victim(newcomer: Share<Item>): Item {
    let heaviest = newcomer
    for (const share of this.#shares.values()) if (share.held > heaviest.held) heaviest = share
    if (this.#options.evict === 'newest') return this.#newestOf(heaviest)
    const [oldest] = heaviest.items
    return oldest as Item
  }

  #used(item: Item, place: Place, share: Share<Item>): void {
    if (this.#options.evict === 'oldest') return
    place.turn = ++this.#turn
    share.uses.push({ item, turn: place.turn })
    // As many as were added: constant on average.
    if (share.uses.length > 2 * share.items.size + 16)
      share.uses = share.uses.filter((use) => this.#places.get(use.item)?.turn === use.turn)
  }

  #newestOf(share: Share<Item>): Item {
    for (;;) {
      const use = share.uses.at(-1)
      if (use === undefined) throw new Error('a cause that holds nothing')
      if (this.#places.get(use.item)?.turn === use.turn) return use.item
      share.uses.pop()
    }
  }
}
