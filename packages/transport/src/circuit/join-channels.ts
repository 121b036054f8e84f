import type { Channel } from '../connection/channel.ts'

export interface JoinOptions<C extends Channel> {
  readonly maxQueuedBytes: number
  readonly onClose: () => void
  /** Called with what each side sends. */
  readonly onBytes?: ((from: C, bytes: number) => void) | undefined
}

/**
 * Passes the frames of each of two channels to the other until one of them closes; then closes both. What waits for a side that
 * reads too slowly is bounded: a frame that comes while more than `maxQueuedBytes` wait closes both. One of any size is carried.
 */
export function joinChannels<C extends Channel>(a: C, b: C, options: JoinOptions<C>): void {
  let isOpen = true
  const close = (abrupt: boolean): void => {
    if (!isOpen) return
    isOpen = false
    for (const channel of [a, b]) channel.close(abrupt)
    options.onClose()
  }
  const carry = (from: C, to: C): void => {
    from.events = {
      onFrame: (frame) => {
        if (!isOpen) return
        if (to.bufferedBytes > options.maxQueuedBytes) return close(true)
        to.send(frame)
        options.onBytes?.(from, frame.length)
      },
      onDrain: () => {},
      onClose: () => close(false),
    }
  }
  carry(a, b)
  carry(b, a)
}
