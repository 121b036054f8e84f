/// <reference lib="dom" />
import type { TrackPublisher } from '../session/track-publisher.ts'
import { encoderConfig } from './codecs.ts'
import { formatOf, type PictureFormat } from './picture-format.ts'
import type { RenditionCounters, RenditionOptions } from './video-options.ts'

/** A key frame comes at least this often, for members who have just joined and could not ask. */
const keyEveryMs = 4_000
/** An encoder with this many pictures queued is too slow: pictures are left out. */
const maxEncoding = 2
/** One that failed is replaced this often at most: where each fails at once, there would be nothing else. */
const replaceEveryMs = 1_000
/** So many encoders one after the other that failed before they gave a picture: the next would, too. */
const maxFailures = 3
/** Pictures in another shape, as of a window whose size is changed: so often at most, as each shape begins with a key frame. */
const reshapeEveryMs = 1_000

/** How a picture is to be turned when it is shown: newer than the declarations of the DOM. */
interface Orientation {
  readonly rotation?: number
  readonly flip?: boolean
}

/** Encodes pictures into one track. */
export class VideoRendition {
  readonly #options: RenditionOptions
  readonly #onFault: (error: unknown) => void
  readonly #counters = { encoded: 0, skipped: 0 }
  #format: PictureFormat
  #publisher: TrackPublisher | undefined
  #encoder: VideoEncoder | undefined
  #config: VideoEncoderConfig | undefined
  #keyMs = -Infinity
  #wantsKey = true
  #nextUs = -Infinity
  /** What pictures are painted on that the encoder does not scale. */
  #canvas: OffscreenCanvas | undefined
  #encoderScales = true
  /** When one that failed was replaced last. */
  #replacedMs = -Infinity
  /** Of encoders since one gave a picture. */
  #failures = 0
  /** When it last went over to another shape. */
  #reshapedMs = -Infinity
  #isClosed = false

  /** `size`: of the track's pictures, as far as it is known. */
  constructor(
    options: RenditionOptions,
    size: { readonly width: number; readonly height: number },
    onFault: (error: unknown) => void,
  ) {
    this.#options = options
    this.#format = formatOf(options, size)
    this.#onFault = onFault
  }

  get minBitsPerS(): number {
    return this.#options.minBitsPerS
  }

  get format(): PictureFormat {
    return this.#format
  }

  get counters(): RenditionCounters {
    return this.#counters
  }

  get publisher(): TrackPublisher | undefined {
    return this.#publisher
  }

  set publisher(publisher: TrackPublisher) {
    this.#publisher = publisher
  }

  /** The codec in use, where its encoders fail again and again. */
  get failingCodec(): string | undefined {
    return this.#failures >= maxFailures ? this.#config?.codec : undefined
  }

  wantKey(): void {
    this.#wantsKey = true
  }

  /** Goes over to a codec; throws what the encoder throws. Returns false where the browser has none for it, or it is closed. */
  async useCodec(codec: string): Promise<boolean> {
    if (this.#config?.codec === codec) return true
    const config = await encoderConfig(codec, this.#format)
    if (config === undefined || this.#isClosed) return false
    this.#failures = 0
    this.#use(config)
    this.#publisher?.useCodec(codec)
    return true
  }

  /** Bits a second; 0 pauses. */
  useRate(bitsPerS: number): void {
    if (bitsPerS === 0 || this.#config === undefined) return
    this.#config = { ...this.#config, bitrate: bitsPerS }
    if (this.#encoder?.state === 'configured') this.#encoder.configure(this.#config)
  }

  /** Encodes a picture, unless there are more than the track has. The picture stays the caller's. */
  encode(picture: VideoFrame, timestampUs: number): void {
    if (this.#encoder === undefined || this.#publisher?.track.state !== 'live') {
      this.#wantsKey = true
      return
    }
    if (this.#encoder.state === 'closed' && !this.#replace()) return
    const everyUs = 1_000_000 / this.#format.framerate
    // A camera's pictures come a little early or late.
    if (timestampUs < this.#nextUs - everyUs / 8) return
    this.#nextUs = Math.max(this.#nextUs + everyUs, timestampUs)
    if (this.#encoder.encodeQueueSize >= maxEncoding) {
      this.#counters.skipped++
      return
    }
    const keyFrame = this.#wantsKey || timestampUs / 1_000 - this.#keyMs >= keyEveryMs
    if (keyFrame) this.#keyMs = timestampUs / 1_000
    this.#wantsKey = false
    this.#reshape(picture)
    const scaled = this.#scaled(picture, timestampUs)
    this.#encoder.encode(scaled, { keyFrame })
    scaled.close()
    this.#counters.encoded++
  }

  close(): void {
    this.#isClosed = true
    if (this.#encoder?.state !== 'closed') this.#encoder?.close()
    this.#encoder = undefined
    this.#publisher?.close()
  }

  /** Goes over to the shape of a picture, if the encoder has it. What is encoded until then is stretched. */
  #reshape({ displayWidth, displayHeight }: VideoFrame): void {
    const format = formatOf(this.#options, { width: displayWidth, height: displayHeight })
    const [{ width, height }, nowMs, codec] = [this.#format, performance.now(), this.#config?.codec]
    const isSame = format.width === width && format.height === height
    if (isSame || codec === undefined || nowMs - this.#reshapedMs < reshapeEveryMs) return
    this.#reshapedMs = nowMs
    const go = (config: VideoEncoderConfig | undefined): void => {
      if (config === undefined || this.#isClosed || this.#config?.codec !== codec) return
      this.#format = format
      this.#use(config)
      this.#publisher?.useSize({ codedWidth: format.width, codedHeight: format.height })
    }
    encoderConfig(codec, format).then(go).catch(this.#onFault)
  }

  #use(config: VideoEncoderConfig): void {
    // What the network carries now; the format's is the most.
    const bitsPerS = this.#publisher?.bitsPerS ?? 0
    this.#config = bitsPerS === 0 ? config : { ...config, bitrate: bitsPerS }
    this.#restart(this.#config)
  }

  /** After a failure. False where that was done just before. */
  #replace(): boolean {
    const [config, nowMs] = [this.#config, performance.now()]
    if (config === undefined || this.#isClosed || nowMs - this.#replacedMs < replaceEveryMs) return false
    this.#replacedMs = nowMs
    this.#restart(config)
    return true
  }

  #restart(config: VideoEncoderConfig): void {
    if (this.#encoder?.state !== 'closed') this.#encoder?.close()
    this.#encoder = new VideoEncoder({
      output: (chunk, metadata) => this.#send(chunk, metadata),
      error: (error) => {
        this.#encoderScales = false
        this.#failures++
        this.#onFault(error)
        this.#replace()
      },
    })
    this.#encoder.configure(config)
    this.#wantsKey = true
  }

  #send(chunk: EncodedVideoChunk, metadata: EncodedVideoChunkMetadata | undefined): void {
    this.#failures = 0
    const data = new Uint8Array(chunk.byteLength)
    chunk.copyTo(data)
    const temporalLayer = metadata?.svc?.temporalLayerId ?? 0
    const isKey = chunk.type === 'key'
    this.#publisher?.send({ timestampUs: chunk.timestamp, isKey, temporalLayer, data })
  }

  /** Encoders scale by themselves (W3C "WebCodecs", VideoEncoderConfig), without a turn by way of the graphics processor; one that failed gets the size that it has. */
  #scaled(picture: VideoFrame, timestamp: number): VideoFrame {
    const { width, height } = this.#format
    const { rotation = 0, flip = false } = picture as Orientation
    const isUpright = rotation === 0 && !flip
    const isSized = picture.displayWidth === width && picture.displayHeight === height
    if (isUpright && (isSized || this.#encoderScales)) return new VideoFrame(picture, { timestamp })
    const canvas = (this.#canvas ??= new OffscreenCanvas(width, height))
    // The format is another once the picture has another shape, as that of a phone that is turned.
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height })
    canvas.getContext('2d')?.drawImage(picture, 0, 0, width, height)
    return new VideoFrame(canvas, { timestamp })
  }
}
