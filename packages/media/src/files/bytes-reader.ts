/** Bytes that come in pieces of any length, such as those of a pipe, in the lengths that they are wanted. */
export class BytesReader {
  readonly #pieces: AsyncIterator<Uint8Array>
  #rest = new Uint8Array(0)

  constructor(pieces: AsyncIterable<Uint8Array>) {
    this.#pieces = pieces[Symbol.asyncIterator]()
  }

  /** Takes no more: a file is closed, and a pipe does not keep the process. Never rejects. */
  async close(): Promise<void> {
    await this.#pieces.return?.().catch(() => {})
  }

  /** The next `length` bytes; fewer where they end. */
  async take(length: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = []
    let missing = length
    for (;;) {
      const part = this.#rest.subarray(0, missing)
      this.#rest = this.#rest.subarray(part.length)
      parts.push(part)
      missing -= part.length
      if (missing === 0) break
      const { done, value } = await this.#pieces.next()
      if (done === true) break
      this.#rest = new Uint8Array(value)
    }
    const bytes = new Uint8Array(length - missing)
    let offset = 0
    for (const part of parts) {
      bytes.set(part, offset)
      offset += part.length
    }
    return bytes
  }
}
