import { noEntries } from './no-entries.ts'

/** A set that is empty most of the time in most nodes: of memory as a `RareMap`. */
export class RareSet<T> implements Iterable<T> {
  #members: Map<T, true> = noEntries()

  get size(): number {
    return this.#members.size
  }

  has(member: T): boolean {
    return this.#members.has(member)
  }

  add(member: T): this {
    if (this.#members.size === 0) this.#members = new Map()
    this.#members.set(member, true)
    return this
  }

  /** False when it was not in it. */
  delete(member: T): boolean {
    const wasThere = this.#members.delete(member)
    if (wasThere && this.#members.size === 0) this.#members = noEntries()
    return wasThere
  }

  clear(): void {
    this.#members.clear()
    this.#members = noEntries()
  }

  [Symbol.iterator](): MapIterator<T> {
    return this.#members.keys()
  }
}
