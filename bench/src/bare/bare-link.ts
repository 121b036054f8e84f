/** One end of a link with nothing of Runnel on it: the baseline every figure stands beside. */
export interface BareLink {
  send(message: Uint8Array): void
  onMessage: (message: Uint8Array) => void
  /** Bytes that have not left yet. */
  buffered(): number
  close(): void
}

/** A frame of a data channel that every implementation takes. */
const maxFrameBytes = 16 * 1024

/**
 * Packs all messages of one turn of the event loop into frames of length-prefixed messages: what any fast use of the
 * transport would do, and so the stricter of the two baselines.
 */
export function packed(link: BareLink): BareLink {
  let queue: Uint8Array[] = []
  let queuedBytes = 0
  const flush = () => {
    const frame = new Uint8Array(queuedBytes)
    const view = new DataView(frame.buffer)
    let at = 0
    for (const message of queue) {
      view.setUint16(at, message.length)
      frame.set(message, at + 2)
      at += 2 + message.length
    }
    queue = []
    queuedBytes = 0
    link.send(frame)
  }
  const outer: BareLink = {
    onMessage: () => {},
    send(message) {
      if (queuedBytes > 0 && queuedBytes + message.length + 2 > maxFrameBytes) flush()
      if (queuedBytes === 0) setImmediate(() => queuedBytes > 0 && flush())
      queue.push(message)
      queuedBytes += message.length + 2
    },
    buffered: () => link.buffered() + queuedBytes,
    close: () => link.close(),
  }
  link.onMessage = (frame) => {
    for (let at = 0; at < frame.length;) {
      const end = at + 2 + ((frame[at] ?? 0) << 8) + (frame[at + 1] ?? 0)
      outer.onMessage(frame.subarray(at + 2, end))
      at = end
    }
  }
  return outer
}
