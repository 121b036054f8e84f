import { protocolError } from '../errors.ts'

// ignoreBOM keeps a leading U+FEFF, so that decoding and encoding again gives the same bytes.
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const printableAscii = /^[\x20-\x7e]*$/

/** The same bytes as a plain Uint8Array: a Buffer's `subarray` is several times slower, and gives Buffers. */
export function plainBytes(bytes: Uint8Array): Uint8Array {
  return bytes.constructor === Uint8Array
    ? bytes
    : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/**
 * A cursor over bytes from the network. Every read is checked against the end and throws MALFORMED_PACKET beyond it;
 * what is longer than the given limit throws LIMIT_EXCEEDED. Byte strings are views, never copies.
 */
export class Reader {
  readonly bytes: Uint8Array
  #offset = 0

  constructor(bytes: Uint8Array) {
    this.bytes = plainBytes(bytes)
  }

  /** How many bytes have been read. */
  get offset(): number {
    return this.#offset
  }

  /** How many bytes are left. */
  get remaining(): number {
    return this.bytes.length - this.#offset
  }

  /** Moves past `length` bytes and returns where they start. */
  #advance(length: number): number {
    const start = this.#offset
    if (length > this.bytes.length - start) throw protocolError('MALFORMED_PACKET', 'it ends too early')
    this.#offset = start + length
    return start
  }

  skip(length: number): void {
    this.#advance(length)
  }

  u8(): number {
    return this.bytes[this.#advance(1)] as number
  }

  /** Big endian, as all fixed integers. */
  u16(): number {
    return this.#bigEndian(this.#advance(2), 2)
  }

  u32(): number {
    return this.#bigEndian(this.#advance(4), 4)
  }

  u48(): number {
    return this.#bigEndian(this.#advance(6), 6)
  }

  #bigEndian(start: number, length: number): number {
    let value = 0
    for (let i = start; i < start + length; i++) value = value * 256 + (this.bytes[i] as number)
    return value
  }

  /**
   * An unsigned LEB128 number of at most 2^53 − 1: seven bits a byte, the lowest first, the top bit set on all bytes but
   * the last. Only the shortest form is accepted, so that there is one encoding of each number.
   */
  varint(max: number = Number.MAX_SAFE_INTEGER): number {
    let value = 0
    let unit = 1
    for (;;) {
      const byte = this.u8()
      value += (byte & 0x7f) * unit
      if (value > max) throw protocolError('MALFORMED_PACKET', `a number above ${max}`)
      if (byte < 0x80) {
        if (byte === 0 && unit > 1) throw protocolError('MALFORMED_PACKET', 'a varint with needless bytes')
        return value
      }
      unit *= 128
      if (unit > Number.MAX_SAFE_INTEGER) throw protocolError('MALFORMED_PACKET', 'a varint that is too long')
    }
  }

  /** A varint that counts what follows: above `limit` it is LIMIT_EXCEEDED. */
  count(limit: number, what: string): number {
    return withinLimit(this.varint(), limit, what)
  }

  /** A view of the next `length` bytes. */
  view(length: number): Uint8Array {
    const start = this.#advance(length)
    return this.bytes.subarray(start, start + length)
  }

  /** A view of all that is left. */
  rest(): Uint8Array {
    return this.view(this.remaining)
  }

  /** UTF-8 behind a varint length. */
  text(limit: number, what: string): string {
    const bytes = this.view(this.count(limit, what))
    try {
      return strictUtf8.decode(bytes)
    } catch (cause) {
      throw protocolError('MALFORMED_PACKET', `${what} is not UTF-8`, { cause })
    }
  }

  /** Printable ASCII (0x20 to 0x7e) behind a varint length. */
  ascii(limit: number, what: string): string {
    return this.#asciiOf(this.count(limit, what), what)
  }

  /** Printable ASCII behind a length of one byte. Where it is what was `expected`, that itself: no string has to be made. */
  shortAscii(limit: number, what: string, expected = ''): string {
    return this.#asciiOf(withinLimit(this.u8(), limit, what), what, expected)
  }

  #asciiOf(length: number, what: string, expected = ''): string {
    const start = this.#advance(length)
    if (length === expected.length && this.#isAt(start, expected)) return expected
    const text = String.fromCharCode.apply(
      null,
      this.bytes.subarray(start, start + length) as unknown as number[],
    )
    if (!printableAscii.test(text)) throw protocolError('MALFORMED_PACKET', `${what} is not printable ASCII`)
    return text
  }

  #isAt(start: number, text: string): boolean {
    for (let i = 0; i < text.length; i++) if (this.bytes[start + i] !== text.charCodeAt(i)) return false
    return true
  }

  /** Throws MALFORMED_PACKET when bytes are left over. */
  end(): void {
    if (this.remaining > 0) throw protocolError('MALFORMED_PACKET', `${this.remaining} bytes too many`)
  }
}

/** Returns `size`, or throws LIMIT_EXCEEDED when it is above `limit`. */
export function withinLimit(size: number, limit: number, what: string): number {
  if (size > limit) throw protocolError('LIMIT_EXCEEDED', `${what}: ${size}, at most ${limit}`)
  return size
}
