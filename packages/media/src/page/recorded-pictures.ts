/// <reference lib="dom" />
import type { VideoTrack } from '../catalogue/catalogue.ts'
import { FrameOrder, type PlacedPicture } from '../core/frame-order.ts'
import { PictureQueue, type QueuedPicture } from '../recording/picture-queue.ts'

/** Pictures decoded ahead of their time, including those being decoded. */
const maxAhead = 8

export interface RecordedPicturesModules {
  readonly canvas: HTMLCanvasElement
  /** A picture of that time was painted. */
  painted(timestampUs: number): void
  /** The decoder failed; it goes on with the next key frame. */
  damaged(reason: string): void
}

interface Reading {
  readonly order: FrameOrder
  readonly queue: PictureQueue
}

/** Decodes and paints the camera of a member in a recording, or its screen: from all renditions that are read, the one that is shown. */
export class RecordedPictures {
  readonly #modules: RecordedPicturesModules
  readonly #context: CanvasRenderingContext2D | null
  readonly #readings = new Map<number, Reading>()
  #shown: number | undefined
  #decoder: VideoDecoder | undefined
  #codec = ''
  #decoded: VideoFrame[] = []
  /** Times of what was given to the decoder, and has not come back yet. */
  #pending: number[] = []
  #isFirst = true

  constructor(modules: RecordedPicturesModules) {
    this.#modules = modules
    this.#context = modules.canvas.getContext('2d')
  }

  get canvas(): HTMLCanvasElement {
    return this.#modules.canvas
  }

  /** Which rendition is painted from now on; undefined for none. */
  show(track: number | undefined): void {
    if (track === this.#shown) return
    this.#shown = track
    this.#closeDecoder()
  }

  /** Takes a picture that was read, with the time at which it was recorded. */
  push({ id, codec }: VideoTrack, picture: PlacedPicture, recordedMs: number): void {
    const reading = this.#readings.get(id) ?? { order: new FrameOrder(), queue: new PictureQueue() }
    this.#readings.set(id, reading)
    const ready = reading.order.push(picture, recordedMs)
    for (const next of ready) reading.queue.push({ ...next, codec })
  }

  /** Decodes and paints what is due at that time of the member; upper layers are left out where pictures follow each other too fast. */
  tick(timestampUs: number, maxLayer: number): void {
    for (const [track, { queue }] of this.#readings) if (track !== this.#shown) queue.skipTo(timestampUs)
    this.#decode(timestampUs, maxLayer)
    const due = this.#decoded.findLastIndex(({ timestamp }) => timestamp <= timestampUs)
    const passed = this.#decoded.splice(0, due + 1)
    const picture = passed.at(-1)
    if (picture !== undefined) this.#draw(picture)
    for (const frame of passed) frame.close()
  }

  /** Whether all that was read up to that time is painted or passed over. */
  isSettled(timestampUs: number): boolean {
    if (this.#decoded.some(({ timestamp }) => timestamp > timestampUs)) return true
    return this.#pending.length === 0 && !this.#queue?.hasUpTo(timestampUs)
  }

  /** Forgets what was read; the picture stays until there is another. */
  clear(): void {
    this.#closeDecoder()
    this.#readings.clear()
    this.#isFirst = true
  }

  get #queue(): PictureQueue | undefined {
    return this.#shown === undefined ? undefined : this.#readings.get(this.#shown)?.queue
  }

  #decode(timestampUs: number, maxLayer: number): void {
    const queue = this.#queue
    while (queue !== undefined && this.#decoded.length + this.#pending.length < maxAhead) {
      const picture = queue.take(timestampUs, maxLayer)
      if (picture === undefined) return
      this.#give(picture)
    }
  }

  #give({ codec, isKey, timestampUs, data }: QueuedPicture): void {
    try {
      if (this.#decoder?.state !== 'configured' || (isKey && codec !== this.#codec)) this.#configure(codec)
      this.#decoder?.decode(
        new EncodedVideoChunk({ type: isKey ? 'key' : 'delta', timestamp: timestampUs, data }),
      )
      this.#pending.push(timestampUs)
    } catch (error) {
      if (isKey) this.#failed(error)
    }
  }

  #configure(codec: string): void {
    this.#closeDecoder()
    const decoder = new VideoDecoder({
      output: (frame) => {
        if (decoder === this.#decoder) this.#output(frame)
        else frame.close()
      },
      error: (error) => {
        if (decoder === this.#decoder) this.#failed(error)
      },
    })
    this.#decoder = decoder
    this.#codec = codec
    decoder.configure({ codec, optimizeForLatency: true })
  }

  #output(frame: VideoFrame): void {
    // With what came before it: not all that is decoded is shown, such as VP8's alternative reference frames.
    this.#pending.splice(0, this.#pending.indexOf(frame.timestamp) + 1)
    // Who has just moved to here sees something at once: its group begins a little earlier.
    if (this.#isFirst) this.#draw(frame)
    this.#decoded.push(frame)
  }

  #failed(error: unknown): void {
    this.#closeDecoder()
    this.#modules.damaged(String(error))
  }

  #draw(picture: VideoFrame): void {
    const { canvas, painted } = this.#modules
    const { displayWidth, displayHeight } = picture
    if (canvas.width !== displayWidth) canvas.width = displayWidth
    if (canvas.height !== displayHeight) canvas.height = displayHeight
    this.#context?.drawImage(picture, 0, 0)
    this.#isFirst = false
    painted(picture.timestamp)
  }

  #closeDecoder(): void {
    if (this.#decoder?.state !== 'closed') this.#decoder?.close()
    this.#decoder = undefined
    this.#pending = []
    for (const frame of this.#decoded.splice(0)) frame.close()
  }
}
