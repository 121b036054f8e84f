/// <reference lib="dom" />
/**
 * Whether what a device gives is muted: by who publishes it, or by the browser, which does so while another program or a call has the device
 * (W3C "Media Capture and Streams", section 4.3.1.1). Nothing comes then, and the others would look at the last picture.
 */
export class DeviceMute {
  readonly #apply: (isMuted: boolean) => void
  #isAsked = false
  #isTaken = false

  constructor(apply: (isMuted: boolean) => void) {
    this.#apply = apply
  }

  /** By who publishes it. */
  ask(isMuted: boolean): void {
    this.#isAsked = isMuted
    this.#tell()
  }

  /** What the browser says of the device's track, until `signal` is aborted. */
  follow(track: MediaStreamTrack, signal: AbortSignal): void {
    const look = (): void => {
      this.#isTaken = track.muted
      this.#tell()
    }
    for (const event of ['mute', 'unmute']) track.addEventListener(event, look, { signal })
    look()
  }

  #tell(): void {
    this.#apply(this.#isAsked || this.#isTaken)
  }
}
