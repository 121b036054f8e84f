/// <reference lib="dom" />
import type { EventGuard } from '../webrtc/event-guard.ts'
import {
  maxDataChannelFrameBytes,
  type DataChannelEvents,
  type DataChannelPort,
} from '../webrtc/peer-connection-port.ts'
import { pageInflow } from './inflow.ts'

/** A page's channel reports room when its buffer, which also holds data in flight, falls to this. */
const lowMarkBytes = 256 * 1024
/** Messages kept until the channel is open. Before that the other side sends at most a hello and a proof. */
const maxEarlyMessages = 16

/** A data channel of the browser. */
export class BrowserDataChannel implements DataChannelPort {
  events: DataChannelEvents = { onMessage() {}, onText() {}, onLow() {}, onClose() {} }
  readonly #native: RTCDataChannel
  readonly #guard: EventGuard['run']
  /** Messages that came before the channel reported that it is open, as can happen in Chrome; undefined afterwards. */
  #early: unknown[] | undefined = []

  constructor(native: RTCDataChannel, guard: EventGuard['run']) {
    this.#native = native
    this.#guard = guard
    native.binaryType = 'arraybuffer'
    native.onbufferedamountlow = () =>
      guard(() => {
        this.events.onLow()
        this.#watchForLow()
      })
    native.onclose = () => pageInflow.andThen(() => guard(() => this.events.onClose()))
    native.onmessage = ({ data }: MessageEvent<unknown>) => this.#received(data)
  }

  #received(data: unknown): void {
    if (this.#early !== undefined) return this.#keepEarly(data)
    const onMessage = (message: Uint8Array): void => this.#guard(() => this.events.onMessage(message))
    if (!(data instanceof ArrayBuffer)) pageInflow.andThen(() => this.#guard(() => this.events.onText()))
    else if (data.byteLength <= maxDataChannelFrameBytes) pageInflow.receive(new Uint8Array(data), onMessage)
    // Too large: passed on whole, so that the reader rejects it.
    else pageInflow.andThen(() => onMessage(new Uint8Array(data)))
  }

  #keepEarly(data: unknown): void {
    this.#early?.push(data)
    if ((this.#early?.length ?? 0) > maxEarlyMessages) this.#guard(() => this.events.onClose())
  }

  /**
   * Calls once the channel is open, and lets messages in. A channel made by the other side may already be open when it is first
   * seen, and still fire the event.
   */
  whenOpen(onOpen: () => void): void {
    const opened = (): void => {
      onOpen()
      const early = this.#early ?? []
      this.#early = undefined
      for (const data of early) this.#received(data)
    }
    if (this.#native.readyState === 'open') return opened()
    this.#native.onopen = () => this.#guard(opened)
  }

  get bufferedBytes(): number {
    return this.#native.bufferedAmount
  }

  send(message: Uint8Array<ArrayBuffer>): void {
    this.#native.send(message)
    this.#watchForLow()
  }

  close(): void {
    this.#native.close()
  }

  /** The threshold is half of what is buffered now, so that the event fires whatever the marks of the connection are. */
  #watchForLow(): void {
    this.#native.bufferedAmountLowThreshold = Math.min(
      lowMarkBytes,
      Math.floor(this.#native.bufferedAmount / 2),
    )
  }
}
