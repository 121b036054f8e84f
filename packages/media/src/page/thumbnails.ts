/// <reference lib="dom" />
import { dropOldest } from '@runnel/protocol'
import { mediaLimits } from '../limits.ts'
import type { MediaRecording } from '../recording/recording.ts'
import { thumbnailAt } from '../recording/thumbnail-times.ts'

/** Small pictures of a recording, made on request: one key frame is read and decoded for each, one after the other. */
export class Thumbnails {
  readonly #recording: MediaRecording
  readonly #height: number
  /** By the time of the key frame; the one asked for last at the end. */
  readonly #made = new Map<string, Promise<HTMLCanvasElement | undefined>>()
  readonly #closing = new AbortController()
  #turn: Promise<unknown> = Promise.resolve()

  /** The pictures have this many lines. */
  constructor(recording: MediaRecording, { height = 72 }: { readonly height?: number } = {}) {
    this.#recording = recording
    this.#height = height
  }

  /** The picture of a moment; undefined if nobody showed one, or it cannot be read. Never rejects. */
  at(atMs: number): Promise<HTMLCanvasElement | undefined> {
    const found = thumbnailAt(this.#recording.timeLine, atMs)
    if (found === undefined) return Promise.resolve(undefined)
    const { key, track } = found
    const name = `${key.memberId} ${key.track} ${key.atMs}`
    const made = this.#made.get(name) ?? this.#inTurn(() => this.#make(key, track.codec))
    this.#made.delete(name)
    this.#made.set(name, made)
    dropOldest(this.#made, mediaLimits.maxThumbnails)
    return made
  }

  /** Idempotent. */
  close(): void {
    this.#closing.abort()
    this.#made.clear()
  }

  #inTurn<T>(make: () => Promise<T>): Promise<T | undefined> {
    // A thumbnail less: the recording is played all the same.
    const made = this.#turn
      .then(() => (this.#closing.signal.aborted ? undefined : make()))
      .catch(() => undefined)
    this.#turn = made
    return made
  }

  async #make(
    key: Parameters<MediaRecording['readKey']>[0],
    codec: string,
  ): Promise<HTMLCanvasElement | undefined> {
    const recorded = await this.#recording.readKey(key, this.#closing.signal)
    return recorded && this.#decode(recorded.object.data, codec)
  }

  async #decode(data: Uint8Array, codec: string): Promise<HTMLCanvasElement> {
    const decoded = Promise.withResolvers<HTMLCanvasElement>()
    const decoder = new VideoDecoder({
      output: (frame) => {
        decoded.resolve(this.#draw(frame))
        frame.close()
      },
      error: decoded.reject,
    })
    try {
      decoder.configure({ codec, optimizeForLatency: true })
      decoder.decode(new EncodedVideoChunk({ type: 'key', timestamp: 0, data }))
      // Of a key frame that shows nothing there is no picture then: the others wait for their turn.
      const flushed = decoder.flush().then(() => decoded.reject(new Error('a key frame that shows nothing')))
      const [picture] = await Promise.all([decoded.promise, flushed])
      return picture
    } finally {
      if (decoder.state !== 'closed') decoder.close()
    }
  }

  #draw(frame: VideoFrame): HTMLCanvasElement {
    const canvas = document.createElement('canvas')
    canvas.height = this.#height
    canvas.width = Math.round((frame.displayWidth / frame.displayHeight) * this.#height)
    canvas.getContext('2d')?.drawImage(frame, 0, 0, canvas.width, canvas.height)
    return canvas
  }
}
