/** Bytes before the content of a STUN message (RFC 8489, section 5) and of ChannelData (RFC 8656, section 12.4). */
const headerBytes = { stun: 20, channelData: 4 } as const

/** What a TURN server reached by a stream takes, of what it takes as a datagram: ChannelData is padded (RFC 8656, section 12.5). */
export function toStream(datagram: Uint8Array): Uint8Array {
  const padding = -datagram.length & 3
  if (!isChannelData(datagram) || padding === 0) return datagram
  const padded = new Uint8Array(datagram.length + padding)
  padded.set(datagram)
  return padded
}

/** Takes a stream from a TURN server apart into datagrams. */
export class StunStream {
  #left: Buffer = Buffer.alloc(0)

  /** The datagrams that are whole now. A stream of anything else gives datagrams that no ICE agent takes, each at most 64 KiB. */
  read(bytes: Buffer): Buffer[] {
    this.#left = this.#left.length === 0 ? bytes : Buffer.concat([this.#left, bytes])
    const whole: Buffer[] = []
    while (this.#left.length >= headerBytes.channelData) {
      const isChannel = isChannelData(this.#left)
      const length = this.#left.readUInt16BE(2) + (isChannel ? headerBytes.channelData : headerBytes.stun)
      const padded = isChannel ? length + (-length & 3) : length
      if (this.#left.length < padded) break
      whole.push(this.#left.subarray(0, length))
      this.#left = this.#left.subarray(padded)
    }
    return whole
  }
}

/** The first two bits tell the two apart (RFC 8656, section 12.4). */
function isChannelData([first = 0]: Uint8Array): boolean {
  return first >> 6 === 1
}
