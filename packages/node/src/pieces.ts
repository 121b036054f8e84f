/** Pieces of at least so many bytes are kept as they are. */
const wholeBytes = 4096

/** Bytes that come in pieces. Small pieces are joined as they come, for each would cost some hundred bytes besides its own. */
export class Pieces {
  #pieces: Uint8Array[] = []

  push(piece: Uint8Array): void {
    let joined = piece
    // With the one before where that is no longer, so that a byte is copied as often as its piece doubles.
    for (let last = this.#pieces.at(-1); last !== undefined; last = this.#pieces.at(-1)) {
      if (joined.length >= wholeBytes || last.length > joined.length) break
      this.#pieces.pop()
      joined = Buffer.concat([last, joined])
    }
    this.#pieces.push(joined)
  }

  /** How many there are now. */
  get count(): number {
    return this.#pieces.length
  }

  /** All bytes; none are kept. */
  take(): Buffer {
    return Buffer.concat(this.#pieces.splice(0))
  }
}
