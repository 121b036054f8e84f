import type { BareLink } from '../bare/bare-link.ts'

const maxQueueBytes = 1024 * 1024

/** Sends as many of the batches, from the first on, as each message on the link asks for. */
export function serveBare(link: BareLink, batches: readonly { readonly bytes: Uint8Array }[]): void {
  link.onMessage = (request) => {
    const asked = batches.slice(0, new DataView(request.buffer, request.byteOffset).getUint32(0))
    let sent = 0
    const burst = () => {
      while (sent < asked.length && link.buffered() < maxQueueBytes)
        link.send(asked[sent++]?.bytes ?? new Uint8Array())
      if (sent < asked.length) setImmediate(burst)
    }
    burst()
  }
}

/** Milliseconds until all have come, after some have come that are not timed. */
export async function readBare(
  link: BareLink,
  { warmUp, all }: { readonly warmUp: number; readonly all: number },
): Promise<number> {
  await readSome(link, warmUp)
  const startMs = performance.now()
  await readSome(link, all)
  return performance.now() - startMs
}

function readSome(link: BareLink, count: number): Promise<void> {
  const request = new Uint8Array(4)
  new DataView(request.buffer).setUint32(0, count)
  let received = 0
  return new Promise((resolve) => {
    link.onMessage = () => ++received === count && resolve()
    link.send(request)
  })
}
