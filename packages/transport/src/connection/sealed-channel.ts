import type { Session } from '../noise/noise-nn.ts'
import { tagBytes } from '@runnel/protocol'
import type { LinkPath } from '../ports.ts'
import { noEvents, type Channel, type ChannelEvents } from './channel.ts'

/**
 * A channel whose frames are sealed with the keys of a handshake: whoever stands in between can only pass them on, or drop all
 * of them from some point on. A frame that is not the other end's next one closes it with NOT_AUTHENTIC.
 */
export class SealedChannel implements Channel {
  readonly kind: string
  readonly maxFrameBytes: number
  readonly binding: Uint8Array
  events: ChannelEvents = noEvents
  readonly #channel: Channel
  readonly #session: Session
  #isBroken = false

  /** Takes over the channel's events. */
  constructor(channel: Channel, session: Session) {
    this.kind = channel.kind
    this.maxFrameBytes = channel.maxFrameBytes - tagBytes
    this.binding = channel.binding
    this.#channel = channel
    this.#session = session
    channel.events = {
      onFrame: (frame) => this.#received(frame),
      onDrain: () => this.#isBroken || this.events.onDrain(),
      onClose: (text, code) => this.#isBroken || this.events.onClose(text, code),
    }
  }

  get path(): LinkPath | undefined {
    return this.#channel.path
  }

  get remoteAddress(): string | undefined {
    return this.#channel.remoteAddress
  }

  get bufferedBytes(): number {
    return this.#channel.bufferedBytes
  }

  send(frame: Uint8Array): void {
    this.#channel.send(this.#session.sending.seal(frame))
  }

  close(abrupt?: boolean): void {
    this.#channel.close(abrupt)
  }

  #handOn(frame: Uint8Array): void {
    const { handOn } = this.#channel
    if (handOn === undefined) this.events.onFrame(frame)
    else handOn(frame, (piece) => this.events.onFrame(piece))
  }

  #received(sealed: Uint8Array): void {
    if (this.#isBroken) return
    const frame = this.#session.receiving.open(sealed)
    if (frame !== undefined) return this.#handOn(frame)
    this.#isBroken = true
    this.#channel.close(true)
    this.events.onClose(`a frame of ${sealed.length} bytes`, 'NOT_AUTHENTIC')
  }
}
