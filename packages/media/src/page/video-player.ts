/// <reference lib="dom" />
import type { VideoTrack } from '../catalogue/catalogue.ts'
import { FrameOrder, type FrameCounters, type PlacedPicture } from '../core/frame-order.ts'
import type { LipSync } from '../core/lip-sync.ts'
import { mediaLimits } from '../limits.ts'

export interface VideoPlayerModules {
  readonly canvas: HTMLCanvasElement
  readonly lipSync: LipSync
  /** The track cannot go on without a key frame. */
  wantKey(track: number): void
}

interface Decoding {
  readonly track: VideoTrack
  readonly order: FrameOrder
}

interface Decoded {
  readonly frame: VideoFrame
  readonly readyMs: number
}

/** How pictures were shown. */
export interface PaintCounters {
  readonly painted: number
  /** Decoded, and passed over, as a later one was due too. */
  readonly skipped: number
  /** Times that the decoder failed; it goes on with a key frame. */
  readonly decoderFailures: number
}

/** Decodes one track of pictures, and paints it; goes over to another rendition when that begins. */
export class VideoPlayer {
  readonly #modules: VideoPlayerModules
  readonly #context: CanvasRenderingContext2D | null
  readonly #counters = { painted: 0, skipped: 0, decoderFailures: 0 }
  #current: Decoding | undefined
  /** What is wanted instead, until it can be decoded. */
  #next: Decoding | undefined
  #decoder: VideoDecoder | undefined
  /** Decoded, the earliest first. */
  #pictures: Decoded[] = []

  constructor(modules: VideoPlayerModules) {
    this.#modules = modules
    this.#context = modules.canvas.getContext('2d')
  }

  /** The track that is painted. */
  get track(): VideoTrack | undefined {
    return this.#current?.track
  }

  get counters(): PaintCounters {
    return this.#counters
  }

  get frames(): FrameCounters | undefined {
    return this.#current?.order.counters
  }

  /** Shows a track, as soon as it can be decoded. */
  show(track: VideoTrack): void {
    const isSame = (other: Decoding | undefined): boolean =>
      other?.track.id === track.id && other.track.codec === track.codec
    if (isSame(this.#current)) this.#next = undefined
    else if (!isSame(this.#next)) this.#next = { track, order: new FrameOrder() }
  }

  /** Takes a picture of any track of the member. */
  push(track: number, picture: PlacedPicture, nowMs: number): void {
    for (const decoding of [this.#current, this.#next])
      if (decoding?.track.id === track) this.#decode(decoding, decoding.order.push(picture, nowMs))
    if (this.#current?.track.id === track) this.#modules.lipSync.arrived(picture.timestampUs, nowMs)
  }

  /** Goes on without what was waited for, and asks for key frames: called every few milliseconds. */
  tick(nowMs: number): void {
    for (const decoding of [this.#current, this.#next]) {
      if (decoding === undefined) continue
      const { order, track } = decoding
      if (order.dueMs !== undefined && order.dueMs <= nowMs) this.#decode(decoding, order.take(nowMs))
      if (order.wantsKey && track.state === 'live') this.#modules.wantKey(track.id)
    }
  }

  /** Paints what is due: called for each picture of the screen. */
  paint(nowMs: number): void {
    const { lipSync } = this.#modules
    const due = this.#pictures.findLastIndex(
      ({ frame, readyMs }) => lipSync.dueMs(frame.timestamp, readyMs, nowMs) <= nowMs,
    )
    const isCrowded = this.#pictures.length > mediaLimits.maxPicturesQueued / 2
    const passed = this.#pictures.splice(0, Math.max(due + 1, isCrowded ? 1 : 0))
    const picture = passed.at(-1)
    if (picture === undefined) return
    this.#draw(picture.frame)
    this.#counters.skipped += passed.length - 1
    for (const { frame } of passed) frame.close()
  }

  close(): void {
    this.#closeDecoder()
    this.#current = undefined
    this.#next = undefined
  }

  #draw(picture: VideoFrame): void {
    const { canvas } = this.#modules
    const { displayWidth, displayHeight } = picture
    if (canvas.width !== displayWidth) canvas.width = displayWidth
    if (canvas.height !== displayHeight) canvas.height = displayHeight
    this.#context?.drawImage(picture, 0, 0)
    this.#counters.painted++
  }

  #decode(decoding: Decoding, pictures: readonly PlacedPicture[]): void {
    for (const { isKey, timestampUs, data } of pictures) {
      if (decoding === this.#next) this.#goOver(decoding)
      const type = isKey ? 'key' : 'delta'
      if (this.#decoder?.state !== 'configured') this.#configure(decoding.track)
      try {
        this.#decoder?.decode(new EncodedVideoChunk({ type, timestamp: timestampUs, data }))
      } catch {
        this.#failed(decoding)
      }
    }
  }

  #goOver(decoding: Decoding): void {
    this.#current = decoding
    this.#next = undefined
    this.#configure(decoding.track)
  }

  #configure({ codec }: VideoTrack): void {
    this.#closeDecoder()
    const decoding = this.#current
    const decoder = new VideoDecoder({
      output: (picture) => this.#decoded(picture),
      error: () => {
        if (decoder === this.#decoder && decoding !== undefined) this.#failed(decoding)
      },
    })
    decoder.configure({ codec, optimizeForLatency: true })
    this.#decoder = decoder
  }

  /** Whoever published it can send what they like: it begins anew with a key frame. */
  #failed({ track }: Decoding): void {
    this.#counters.decoderFailures++
    this.#closeDecoder()
    this.#current = { track, order: new FrameOrder() }
  }

  #decoded(frame: VideoFrame): void {
    this.#pictures.push({ frame, readyMs: performance.now() })
    // A page that is not seen paints nothing.
    if (this.#pictures.length <= mediaLimits.maxPicturesQueued) return
    this.#pictures.shift()?.frame.close()
    this.#counters.skipped++
  }

  #closeDecoder(): void {
    if (this.#decoder?.state !== 'closed') this.#decoder?.close()
    this.#decoder = undefined
    for (const { frame } of this.#pictures.splice(0)) frame.close()
  }
}
