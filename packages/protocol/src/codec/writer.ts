import { protocolError } from '../errors.ts'
import { withinLimit } from './reader.ts'

const utf8 = new TextEncoder()

/**
 * Writes what a Reader reads, into one buffer that grows and is used again. It keeps the limits and ranges of the Reader,
 * with the same errors, so that what is written can always be read.
 */
export class Writer {
  #buffer = new Uint8Array(4096)
  #offset = 0

  /** Starts over. */
  reset(): void {
    this.#offset = 0
  }

  /** How many bytes have been written. */
  get offset(): number {
    return this.#offset
  }

  /** What has been written, as a view that is good until the next write or reset. */
  view(): Uint8Array {
    return this.#buffer.subarray(0, this.#offset)
  }

  /** Makes room for `length` bytes and returns where they go. Reads of `#buffer` before it may be of a smaller one. */
  #grow(length: number): number {
    const start = this.#offset
    const end = start + length
    if (end > this.#buffer.length) this.#enlarge(end)
    this.#offset = end
    return start
  }

  #enlarge(bytes: number): void {
    const larger = new Uint8Array(Math.max(bytes, 2 * this.#buffer.length))
    larger.set(this.view())
    this.#buffer = larger
  }

  u8(value: number): void {
    if ((value & 0xff) !== value) wholeUpTo(value, 0xff)
    this.#byte(value)
  }

  u16(value: number): void {
    this.#bigEndian(value, 2, 0xffff)
  }

  u32(value: number): void {
    this.#bigEndian(value, 4, 0xffff_ffff)
  }

  u48(value: number): void {
    wholeUpTo(value, 0xffff_ffff_ffff)
    const start = this.#grow(6)
    setU48(this.#buffer, start, value)
  }

  #byte(value: number): void {
    const at = this.#grow(1)
    this.#buffer[at] = value
  }

  /** Up to four bytes, by bits: dividing takes ten times as long. */
  #bigEndian(value: number, length: number, max: number): void {
    wholeUpTo(value, max)
    const end = this.#grow(length) + length
    for (let i = 1; i <= length; i++) this.#buffer[end - i] = value >>> (8 * (i - 1))
  }

  /** See Reader.varint. */
  varint(value: number, max: number = Number.MAX_SAFE_INTEGER): void {
    // Most fit in one byte.
    if ((value & 0x7f) === value && value <= max) this.#byte(value)
    else this.#longVarint(value, max)
  }

  #longVarint(value: number, max: number): void {
    wholeUpTo(value, max)
    let left = value
    while (left >= 0x80) {
      this.#byte((left % 128) | 0x80)
      left = Math.floor(left / 128)
    }
    this.#byte(left)
  }

  /** A varint that counts what follows. */
  count(size: number, limit: number, what: string): void {
    this.varint(withinLimit(size, limit, what))
  }

  /** The bytes themselves, without a length. */
  raw(bytes: Uint8Array): void {
    // Grows first: the buffer may be another one afterwards.
    const start = this.#grow(bytes.length)
    this.#buffer.set(bytes, start)
  }

  /** A few bytes of others, from `start` to before `end`: one by one, which takes less than making a view of them. */
  few(bytes: Uint8Array, start: number, end: number): void {
    let at = this.#grow(end - start)
    const buffer = this.#buffer
    for (let i = start; i < end; i++) buffer[at++] = bytes[i] as number
  }

  /** Exactly `length` bytes. */
  fixed(bytes: Uint8Array, length: number, what: string): void {
    if (bytes.length !== length) {
      throw protocolError('MALFORMED_PACKET', `${what}: ${bytes.length} bytes instead of ${length}`)
    }
    this.raw(bytes)
  }

  /** UTF-8 behind a varint length. Lone surrogates become U+FFFD. */
  text(text: string, limit: number, what: string): void {
    const bytes = utf8.encode(text)
    this.count(bytes.length, limit, what)
    this.raw(bytes)
  }

  /** Printable ASCII behind a varint length. */
  ascii(text: string, limit: number, what: string): void {
    this.count(text.length, limit, what)
    this.#rawAscii(text, what)
  }

  /** Printable ASCII behind a length of one byte. */
  shortAscii(text: string, limit: number, what: string): void {
    this.u8(withinLimit(text.length, limit, what))
    this.#rawAscii(text, what)
  }

  #rawAscii(text: string, what: string): void {
    const start = this.#grow(text.length)
    const buffer = this.#buffer
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i)
      if (code < 0x20 || code > 0x7e)
        throw protocolError('MALFORMED_PACKET', `${what} is not printable ASCII`)
      buffer[start + i] = code
    }
  }
}

/** Byte by byte: a loop takes twice as long. */
function setU48(buffer: Uint8Array, start: number, value: number): void {
  const high = Math.floor(value / 2 ** 32)
  const low = value >>> 0
  buffer[start] = high >>> 8
  buffer[start + 1] = high
  buffer[start + 2] = low >>> 24
  buffer[start + 3] = low >>> 16
  buffer[start + 4] = low >>> 8
  buffer[start + 5] = low
}

function wholeUpTo(value: number, max: number): void {
  if (!Number.isSafeInteger(value) || value < 0 || value > max) {
    throw protocolError('MALFORMED_PACKET', `${value} is no whole number from 0 to ${max}`)
  }
}
