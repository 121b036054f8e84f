import { protocolError } from '../errors.ts'
import { withinLimit } from './reader.ts'

const utf8 = new TextEncoder()

/**
 * Writes what a Reader reads, into one buffer that grows and is used again. It keeps the limits and ranges of the Reader,
 * with the same errors, so that what is written can always be read.
 */
export class Writer {
  #buffer = new Uint8Array(4096)
  /** Of the buffer: what has two to six bytes is written through it, in a third of the time that its bytes one by one take. */
  #numbers = new DataView(this.#buffer.buffer)
  /** Of the buffer; asking the buffer takes longer. */
  #capacity = this.#buffer.length
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
    if (end > this.#capacity) this.#enlarge(end)
    this.#offset = end
    return start
  }

  #enlarge(bytes: number): void {
    const larger = new Uint8Array(Math.max(bytes, 2 * this.#capacity))
    larger.set(this.view())
    this.#buffer = larger
    this.#capacity = larger.length
    this.#numbers = new DataView(larger.buffer)
  }

  /**
   * Room for up to `maxBytes` that the caller writes itself through `numbers`, from the place that it returns: a few numbers at once
   * take less than half the time that one call for each does. What it wrote it ends with `wrote`.
   */
  room(maxBytes: number): number {
    const start = this.#grow(maxBytes)
    this.#offset = start
    return start
  }

  /** What `room` is for: good until the next write. */
  get numbers(): DataView {
    return this.#numbers
  }

  /** Up to `end`, of the room. */
  wrote(end: number): void {
    this.#offset = end
  }

  u8(value: number): void {
    if ((value & 0xff) !== value) checkWhole(value, 0xff)
    this.#byte(value)
  }

  u16(value: number): void {
    checkWhole(value, 0xffff)
    const at = this.#grow(2)
    this.#numbers.setUint16(at, value)
  }

  u32(value: number): void {
    checkWhole(value, 0xffff_ffff)
    const at = this.#grow(4)
    this.#numbers.setUint32(at, value)
  }

  u48(value: number): void {
    checkWhole(value, 0xffff_ffff_ffff)
    const at = this.#grow(6)
    const numbers = this.#numbers
    numbers.setUint16(at, Math.floor(value / 2 ** 32))
    numbers.setUint32(at + 2, value >>> 0)
  }

  #byte(value: number): void {
    const at = this.#grow(1)
    this.#buffer[at] = value
  }

  /** See Reader.varint. */
  varint(value: number, max: number = Number.MAX_SAFE_INTEGER): void {
    // Most fit in one byte.
    if ((value & 0x7f) === value && value <= max) this.#byte(value)
    else this.#longVarint(value, max)
  }

  #longVarint(value: number, max: number): void {
    checkWhole(value, max)
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

  /** A few bytes of others, from `start` to before `end`: by fours, which takes less than making a view of them, or one by one. */
  few(bytes: DataView, start: number, end: number): void {
    let at = this.#grow(end - start)
    const numbers = this.#numbers
    let i = start
    for (; i + 4 <= end; i += 4, at += 4) numbers.setUint32(at, bytes.getUint32(i))
    for (; i < end; i++) numbers.setUint8(at++, bytes.getUint8(i))
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

/** Throws MALFORMED_PACKET. */
export function checkWhole(value: number, max: number): void {
  if (!Number.isSafeInteger(value) || value < 0 || value > max) {
    throw protocolError('MALFORMED_PACKET', `${value} is no whole number from 0 to ${max}`)
  }
}
