import { Application, createDecoder, createEncoder, type OpusDecoderHandle } from 'libopus-wasm'
import type { AudioStep } from '../core/jitter-buffer.ts'
import { mediaError } from '../errors.ts'

/** What sound is encoded with, unless it is said otherwise. */
export const opusDefaults = {
  /** Hertz: the rate that Opus works at. */
  sampleRate: 48_000,
  /** Milliseconds of each frame. */
  frameMs: 20,
  /** Bits a second of speech in one channel. */
  bitrate: 32_000,
  /** The loss of frames, in per cent, that the copies in the next frame are made for. */
  packetLossPercent: 10,
} as const

export const samplesPerFrame = (opusDefaults.sampleRate * opusDefaults.frameMs) / 1_000

/** Encodes 20 ms of one channel at 48 kHz at a time; each frame holds a lower-quality copy of the one before it (RFC 6716, section 2.1.7). */
export interface OpusEncoder extends Disposable {
  encode(samples: Float32Array): Uint8Array
}

/** libopus, because the encoder and decoder of WebCodecs lack loss concealment and forward error correction (w3c/webcodecs issue 558). Throws SOUND_REFUSED. */
export async function createOpusEncoder(): Promise<OpusEncoder> {
  const { sampleRate, bitrate, packetLossPercent } = opusDefaults
  const encoder = await loaded(
    createEncoder({
      ...{ sampleRate, bitrate, packetLossPercent, channels: 1, application: Application.Voip, fec: true },
      ...{ frameSize: samplesPerFrame },
    }),
  )
  return {
    encode: (samples) => encoder.encodeFloat(samples),
    [Symbol.dispose]: () => encoder.free(),
  }
}

/** Turns the steps of a `JitterBuffer` into samples. */
export class OpusPlayback implements Disposable {
  readonly #decoder: OpusDecoderHandle
  readonly #samples: number
  #malformed = 0

  private constructor(decoder: OpusDecoderHandle, samples: number) {
    this.#decoder = decoder
    this.#samples = samples
  }

  /** For frames of `frameMs`; the decoder mixes several channels into one. Throws SOUND_REFUSED. */
  static async create(frameMs: number = opusDefaults.frameMs): Promise<OpusPlayback> {
    const { sampleRate } = opusDefaults
    const samples = (sampleRate * frameMs) / 1_000
    const decoder = await loaded(createDecoder({ sampleRate, channels: 1, maxFrameSize: samples }))
    return new OpusPlayback(decoder, samples)
  }

  /** Frames concealed because they are not Opus, or are longer than the track says. */
  get malformed(): number {
    return this.#malformed
  }

  /** Samples of one frame at 48 kHz; undefined for silence. */
  play(step: AudioStep): Float32Array | undefined {
    if (step.type === 'silence') return undefined
    if (step.type === 'conceal') return this.#conceal()
    const isFrame = step.type === 'frame'
    const { data } = isFrame ? step.frame : step.next
    try {
      const samples = this.#decoder.decodeFloat(
        data,
        isFrame ? {} : { decodeFec: true, frameSize: this.#samples },
      )
      if (samples.length > 0 && samples.length <= this.#samples) return this.#whole(samples)
    } catch {
      // Counted below: whoever published it can send what they like.
    }
    this.#malformed++
    return this.#conceal()
  }

  [Symbol.dispose](): void {
    this.#decoder.free()
  }

  /** With silence behind a shorter frame: encoders end a file with one. */
  #whole(samples: Float32Array): Float32Array {
    if (samples.length === this.#samples) return samples
    const whole = new Float32Array(this.#samples)
    whole.set(samples)
    return whole
  }

  #conceal(): Float32Array {
    return this.#decoder.decodePacketLossFloat(this.#samples)
  }
}

/** Opus is WebAssembly, which the policy of a page may forbid. */
async function loaded<Codec>(codec: Promise<Codec>): Promise<Codec> {
  try {
    return await codec
  } catch (cause) {
    throw mediaError('SOUND_REFUSED', 'Opus cannot be loaded', { cause })
  }
}
