import type { Channel } from '../connection/channel.ts'

/**
 * Passes the frames of each of two channels to the other until one of them closes; then closes both. What waits for a side that
 * reads too slowly is bounded: above `maxQueuedBytes` both are closed.
 */
export function joinChannels(
  a: Channel,
  b: Channel,
  options: { readonly maxQueuedBytes: number; readonly onClose: () => void },
): void {
  let isOpen = true
  const close = (abrupt: boolean): void => {
    if (!isOpen) return
    isOpen = false
    for (const channel of [a, b]) channel.close(abrupt)
    options.onClose()
  }
  const carry = (from: Channel, to: Channel): void => {
    from.events = {
      onFrame: (frame) => {
        if (!isOpen) return
        if (to.bufferedBytes + frame.length > options.maxQueuedBytes) return close(true)
        to.send(frame)
      },
      onDrain: () => {},
      onClose: () => close(false),
    }
  }
  carry(a, b)
  carry(b, a)
}
