export interface SharesOptions {
  /** Units that all causes hold together. */
  readonly max: number
  /** Which item of the heaviest cause goes: its `newest`, so that what is established stays, or its `oldest`, as in a cache. */
  readonly evict: 'newest' | 'oldest'
}

interface Place {
  readonly cause: string
  readonly weight: number
}

/** What one cause holds, oldest first. */
interface Share<Item> {
  held: number
  readonly items: Set<Item>
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
  readonly #places = new Map<Item, Place>()
  readonly #shares = new Map<string, Share<Item>>()
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
    let share = this.#shares.get(cause)
    if (share === undefined) this.#shares.set(cause, (share = { held: 0, items: new Set() }))
    share.items.add(item)
    share.held += weight
    this.#held += weight
    this.#places.set(item, { cause, weight })
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
    const items = place && this.#shares.get(place.cause)?.items
    if (items?.delete(item)) items.add(item)
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
    let victim: Item | undefined
    for (const item of heaviest.items) {
      victim = item
      if (this.#options.evict === 'oldest') break
    }
    return victim as Item
  }
}
