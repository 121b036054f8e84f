/// <reference lib="dom" />
import { vi } from 'vitest'

/** A decoder whose pictures are nothing but their times; it shows no chunk of which the first byte is 0. */
class Decoder {
  state = 'unconfigured'
  readonly #output: VideoDecoderInit['output']

  constructor({ output }: VideoDecoderInit) {
    this.#output = output
  }

  configure(): void {
    this.state = 'configured'
  }

  decode({ timestamp, data }: EncodedVideoChunkInit): void {
    const frame = { timestamp, displayWidth: 320, displayHeight: 180, close: () => {} }
    if ((data as Uint8Array)[0] !== 0) queueMicrotask(() => this.#output(frame as VideoFrame))
  }

  flush(): Promise<void> {
    return Promise.resolve()
  }

  close(): void {
    this.state = 'closed'
  }
}

class Chunk {
  constructor(init: EncodedVideoChunkInit) {
    Object.assign(this, init)
  }
}

/** Puts it in the place of the browser's, until globals are unstubbed. */
export function stubVideoDecoder(): void {
  vi.stubGlobal('VideoDecoder', Decoder)
  vi.stubGlobal('EncodedVideoChunk', Chunk)
}
