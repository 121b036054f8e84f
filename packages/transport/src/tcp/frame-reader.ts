import { transportError } from '../errors.ts'

const headerBytes = 4

/** Bytes before each frame on the wire: its length, big endian. */
export function headerOf(frame: Uint8Array): Buffer {
  const header = Buffer.allocUnsafe(headerBytes)
  header.writeUInt32BE(frame.length)
  return header
}

/** Cuts a stream of bytes into frames. Holds at most one incomplete frame. */
export class FrameReader {
  readonly #maxFrameBytes: number
  readonly #onFrame: (frame: Uint8Array) => void
  #chunks: Buffer[] = []
  #heldBytes = 0
  /** Bytes needed before anything can be read. */
  #neededBytes = headerBytes

  constructor(maxFrameBytes: number, onFrame: (frame: Uint8Array) => void) {
    this.#maxFrameBytes = maxFrameBytes
    this.#onFrame = onFrame
  }

  /** Throws FRAME_TOO_LARGE as soon as a header announces too much; nothing may be read afterwards. */
  read(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#heldBytes += chunk.length
    if (this.#heldBytes < this.#neededBytes) return
    const bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks)
    const rest = bytes.subarray(this.#cut(bytes))
    this.#chunks = rest.length === 0 ? [] : [rest]
    this.#heldBytes = rest.length
  }

  /** Returns the offset of the first incomplete frame. */
  #cut(bytes: Buffer): number {
    let start = 0
    while (bytes.length - start >= headerBytes) {
      const length = bytes.readUInt32BE(start)
      if (length > this.#maxFrameBytes) throw transportError('FRAME_TOO_LARGE', `${length} bytes`)
      this.#neededBytes = headerBytes + length
      if (bytes.length - start < this.#neededBytes) return start
      this.#onFrame(bytes.subarray(start + headerBytes, start + this.#neededBytes))
      start += this.#neededBytes
    }
    this.#neededBytes = headerBytes
    return start
  }
}
