/** What one stream part keeps, the oldest first. */
export interface SharingTable {
  readonly bytes: number
  /** Drops its oldest entry, because together they keep too much. */
  makeRoom(): void
}

/** The part of the limit that is freed at once: finding the largest table takes a look at all. */
const freedShare = 1 / 64
/** A table that makes room keeps at least this part of what it had. */
const keptShare = 3 / 4

/**
 * Bytes that the tables of all stream parts keep together. When they are too many, the largest table loses its oldest entries: nobody who publishes
 * much in one stream part takes the room of the others.
 */
export class SharedBytes {
  readonly #max: number
  readonly #tables = new Set<SharingTable>()
  #total = 0

  constructor(max: number) {
    this.#max = max
  }

  get total(): number {
    return this.#total
  }

  /** A table keeps so many bytes more, or fewer. */
  grow(table: SharingTable, bytes: number): void {
    this.#total += bytes
    if (table.bytes > 0) this.#tables.add(table)
    else this.#tables.delete(table)
  }

  /** Has the largest tables make room as long as all keep too much. */
  limit(): void {
    while (this.#total > this.#max) {
      const largest = this.#largest()
      if (largest === undefined) return
      const enough = this.#max * (1 - freedShare)
      const least = largest.bytes * keptShare
      do largest.makeRoom()
      while (this.#total > enough && largest.bytes > least)
    }
  }

  #largest(): SharingTable | undefined {
    let largest: SharingTable | undefined
    for (const table of this.#tables)
      if (largest === undefined || table.bytes > largest.bytes) largest = table
    return largest
  }
}
