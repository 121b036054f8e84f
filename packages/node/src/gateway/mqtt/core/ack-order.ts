import type { Packet } from 'mqtt-packet'

/** Acknowledges messages in the order in which they came (MQTT 5, section 4.6), whenever each is done. */
export class AckOrder {
  readonly #send: (packet: Packet) => void
  readonly #waiting: { packet: Packet | undefined }[] = []

  constructor(send: (packet: Packet) => void) {
    this.#send = send
  }

  /** For the message that has just come; what is returned is to be called once. */
  open(): (packet: Packet) => void {
    const slot: { packet: Packet | undefined } = { packet: undefined }
    this.#waiting.push(slot)
    return (packet) => {
      slot.packet = packet
      while (this.#waiting[0]?.packet !== undefined) {
        const { packet: first } = this.#waiting[0]
        this.#waiting.shift()
        this.#send(first)
      }
    }
  }
}
