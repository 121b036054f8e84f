/** Packets that wait for the end of the turn or for room in the channel; taken out frame by frame. */
export class Outbox {
  #packets: Uint8Array[] = []
  #head = 0
  #bytes = 0

  /** Bytes of all packets in it. */
  get bytes(): number {
    return this.#bytes
  }

  push(packet: Uint8Array): void {
    this.#packets.push(packet)
    this.#bytes += packet.length
  }

  clear(): void {
    this.#packets = []
    this.#head = 0
    this.#bytes = 0
  }

  /**
   * As many packets as fit into `maxBytes`, at least one, back to back. A single packet is returned as it is, so that one
   * packet to several neighbours shares its bytes; several are copied once. Undefined when nothing is left.
   */
  takeFrame(maxBytes: number): Uint8Array | undefined {
    const first = this.#packets[this.#head]
    if (first === undefined) return undefined
    let end = this.#head + 1
    let length = first.length
    for (let next = this.#packets[end]; next !== undefined && length + next.length <= maxBytes;) {
      length += next.length
      next = this.#packets[++end]
    }
    const frame = end === this.#head + 1 ? first : this.#join(end, length)
    this.#forget(end)
    this.#bytes -= length
    return frame
  }

  #join(end: number, length: number): Uint8Array {
    const frame = new Uint8Array(length)
    let offset = 0
    for (let i = this.#head; i < end; i++) {
      const packet = this.#packets[i] as Uint8Array
      frame.set(packet, offset)
      offset += packet.length
    }
    return frame
  }

  /** Taken packets are dropped once they are half of the array, so that each is moved at most once on average. */
  #forget(end: number): void {
    this.#head = end
    if (2 * end < this.#packets.length) return
    this.#packets = end === this.#packets.length ? [] : this.#packets.slice(end)
    this.#head = 0
  }
}
