import { untilAborted } from '@runnel/protocol'
import { mediaError } from '../errors.ts'

/** Pieces of a file or a pipe. What is called off while it brings nothing is let go of at once where it can be destroyed, as streams of Node can; else with what it brings next. */
export type Pieces = AsyncIterable<Uint8Array> & { destroy?(): unknown }

/** Pieces, or all bytes at once. Throws FILE_INVALID for anything else, such as the name of a file. */
export function piecesOf(source: Pieces | Uint8Array): Pieces {
  if (source instanceof Uint8Array) return wholeOf(source)
  const given = source as Partial<Pieces> | null | undefined
  if (typeof given?.[Symbol.asyncIterator] === 'function') return source
  throw mediaError(
    'FILE_INVALID',
    `it must be bytes, or a stream of them such as createReadStream('voice.opus'); it is of type ${typeof source}`,
  )
}

async function* wholeOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes)
}

/** Decoded as text they are damaged for good. */
function bytesOf(piece: unknown): Uint8Array<ArrayBuffer> {
  if (piece instanceof Uint8Array) return new Uint8Array(piece)
  throw mediaError(
    'FILE_INVALID',
    `its pieces must be bytes; one is of type ${typeof piece}: give a stream without an encoding`,
  )
}

/** Bytes that come in pieces of any length, such as those of a pipe, in the lengths that they are wanted. */
export class BytesReader {
  readonly #source: Pieces
  readonly #pieces: AsyncIterator<Uint8Array>
  readonly #signal: AbortSignal
  #isWaiting = false
  #rest = new Uint8Array(0)

  /** When the signal aborts, it takes no more. */
  constructor(source: Pieces, signal: AbortSignal) {
    this.#source = source
    this.#pieces = source[Symbol.asyncIterator]()
    this.#signal = signal
  }

  /** Takes no more: a file is closed, and a pipe does not keep the process. Never rejects. */
  async close(): Promise<void> {
    // An iterator ends behind what it is to bring next, which may never come; one that has brought nothing lets go of nothing.
    this.#source.destroy?.()
    const closed = this.#pieces.return?.().catch(() => {})
    if (!this.#isWaiting) await closed
  }

  /** The next `length` bytes; fewer where they end. Rejects with the reason of the signal once that has aborted. */
  async take(length: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = []
    let missing = length
    for (;;) {
      const part = this.#rest.subarray(0, missing)
      this.#rest = this.#rest.subarray(part.length)
      parts.push(part)
      missing -= part.length
      if (missing === 0) break
      const { done, value } = await this.#next()
      if (done === true) break
      this.#rest = bytesOf(value)
    }
    const bytes = new Uint8Array(length - missing)
    let offset = 0
    for (const part of parts) {
      bytes.set(part, offset)
      offset += part.length
    }
    return bytes
  }

  async #next(): Promise<IteratorResult<Uint8Array>> {
    this.#signal.throwIfAborted()
    this.#isWaiting = true
    const next = this.#pieces.next().finally(() => (this.#isWaiting = false))
    return untilAborted(next, this.#signal)
  }
}
