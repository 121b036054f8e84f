import { Pieces } from '../../../pieces.ts'
import { MqttProblem, Reason } from './reasons.ts'

/**
 * Cuts what comes from a client into packets: a byte for the type, a length of one to four bytes (MQTT 5, section 2.1.4), and as many
 * bytes as that says.
 */
export class Frames {
  readonly #maxPacketBytes: number
  /** Of the packet that comes next. */
  #maxBytes: number
  #rest: Buffer = Buffer.alloc(0)
  /** What came of a packet that is longer than a piece of the network; joined once it is complete. */
  readonly #pieces = new Pieces()
  #missing = 0

  /** The first packet has a bound of its own. */
  constructor(maxPacketBytes: number, maxFirstBytes = maxPacketBytes) {
    this.#maxPacketBytes = maxPacketBytes
    this.#maxBytes = maxFirstBytes
  }

  /** The packets that are complete now. Throws MqttProblem for a length that is none, or beyond the limit, before it is kept. */
  push(data: Buffer): Buffer[] {
    if (this.#missing > data.length) {
      this.#pieces.push(data)
      this.#missing -= data.length
      return []
    }
    const bytes = this.#joined(data)
    const frames: Buffer[] = []
    let at = 0
    for (;;) {
      const end = this.#endOf(bytes, at)
      if (end === undefined || end > bytes.length) {
        this.#keep(bytes.subarray(at), end === undefined ? 0 : end - bytes.length)
        return frames
      }
      frames.push(bytes.subarray(at, end))
      this.#maxBytes = this.#maxPacketBytes
      at = end
    }
  }

  #joined(data: Buffer): Buffer {
    if (this.#missing > 0) {
      this.#pieces.push(data)
      this.#missing = 0
      return this.#pieces.take()
    }
    return this.#rest.length === 0 ? data : Buffer.concat([this.#rest, data])
  }

  #keep(rest: Buffer, missing: number): void {
    if (missing > 0) {
      this.#pieces.push(rest)
      this.#rest = Buffer.alloc(0)
    } else this.#rest = rest
    this.#missing = missing
  }

  /** Where the packet that begins here ends; undefined while its length is not complete. */
  #endOf(bytes: Buffer, start: number): number | undefined {
    let length = 0
    for (let i = 0; i < 4; i++) {
      const byte = bytes[start + 1 + i]
      if (byte === undefined) return undefined
      length += (byte & 0x7f) * 128 ** i
      if (byte < 0x80) {
        const end = start + 2 + i + length
        if (end - start > this.#maxBytes)
          throw new MqttProblem(Reason.packetTooLarge, `a packet of ${end - start} bytes`)
        return end
      }
    }
    throw new MqttProblem(Reason.malformed, 'a length of more than four bytes')
  }
}
