/** Counts what is under way, for each peer and in all, and says when it is too much. */
export class Slots {
  readonly #max: { readonly total: number; readonly perPeer: number }
  readonly #byPeer = new Map<string, number>()
  #total = 0

  constructor(max: { readonly total: number; readonly perPeer: number }) {
    this.#max = max
  }

  get taken(): number {
    return this.#total
  }

  /** Gives back what was taken, once; undefined when there is none left. */
  take(peerId: string): (() => void) | undefined {
    const own = this.#byPeer.get(peerId) ?? 0
    if (this.#total >= this.#max.total || own >= this.#max.perPeer) return undefined
    this.#total++
    this.#byPeer.set(peerId, own + 1)
    let given = false
    return () => {
      if (given) return
      given = true
      this.#total--
      const left = (this.#byPeer.get(peerId) ?? 1) - 1
      if (left > 0) this.#byPeer.set(peerId, left)
      else this.#byPeer.delete(peerId)
    }
  }
}
