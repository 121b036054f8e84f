import { mediaError } from '../errors.ts'
import { mediaLimits } from '../limits.ts'
import type { BytesReader } from './bytes-reader.ts'
import { sentBefore } from './sent-before.ts'

const signature = 'DKIF'
const headerBytes = 32
const frameHeaderBytes = 12
const unknownLengths = [0, 0xffff_ffff]
/** By the four letters in the header; codec strings as of WebCodecs. */
const codecs: Readonly<Record<string, { readonly codec: string; isKey(frame: Uint8Array): boolean }>> = {
  VP80: { codec: 'vp8', isKey: isVp8Key },
  VP90: { codec: 'vp09.00.10.08', isKey: isVp9Key },
  AV01: { codec: 'av01.0.04M.08', isKey: isAv1Key },
}

export interface IvfHeader {
  readonly codec: string
  readonly width: number
  readonly height: number
}

export interface IvfFrame {
  /** From the first frame. */
  readonly timestampUs: number
  readonly isKey: boolean
  readonly data: Uint8Array
}

/** An IVF file of VP8, VP9 or AV1, as ffmpeg and encoders write it. Throws FILE_INVALID, also while its frames are read. */
export async function readIvf(
  reader: BytesReader,
): Promise<IvfHeader & { readonly frames: AsyncGenerator<IvfFrame> }> {
  const header = await reader.take(headerBytes)
  const view = new DataView(header.buffer)
  const text = String.fromCharCode(...header.subarray(0, 12))
  if (header.length < headerBytes || !text.startsWith(signature) || view.getUint16(6, true) !== headerBytes)
    throw mediaError('FILE_INVALID', 'it is not IVF')
  const kind = codecs[text.slice(8)]
  if (kind === undefined) throw mediaError('FILE_INVALID', `IVF with ${JSON.stringify(text.slice(8))}`)
  const [width, height] = [view.getUint16(12, true), view.getUint16(14, true)]
  const [rate, scale] = [view.getUint32(16, true), view.getUint32(20, true)]
  if (width === 0 || height === 0 || rate === 0 || scale === 0)
    throw mediaError('FILE_INVALID', 'IVF without a size, or without a rate')
  return {
    codec: kind.codec,
    width,
    height,
    frames: framesOf(reader, {
      ...{ tickUs: (1_000_000 * scale) / rate, isKey: kind.isKey },
      length: view.getUint32(24, true),
    }),
  }
}

interface Described {
  readonly tickUs: number
  /** As its header has it: see `Progress.isWhole`. */
  readonly length: number
  isKey(frame: Uint8Array): boolean
}

async function* framesOf(
  reader: BytesReader,
  { tickUs, length: stated, isKey }: Described,
): AsyncGenerator<IvfFrame> {
  const progress = new Progress()
  for (;;) {
    const header = await reader.take(frameHeaderBytes)
    if (header.length === 0) return progress.refuseUnlessWhole(stated)
    if (header.length < frameHeaderBytes) throw cutOff(progress)
    // As the length of a frame it would be more than any may have.
    if (String.fromCharCode(...header.subarray(0, 4)) === signature)
      throw mediaError(
        'FILE_INVALID',
        `another IVF file is joined to it${sentBefore(progress.frames)}: publish them one after the other`,
      )
    const view = new DataView(header.buffer)
    const length = view.getUint32(0, true)
    const tick = Number(view.getBigUint64(4, true))
    if (length === 0 || length > mediaLimits.maxObjectBytes)
      throw mediaError(
        'FILE_INVALID',
        `a frame of ${length} bytes, at most ${mediaLimits.maxObjectBytes} are sent`,
      )
    const data = await reader.take(length)
    if (data.length < length) throw cutOff(progress)
    yield { timestampUs: Math.round(progress.next(tick) * tickUs), isKey: isKey(data), data }
  }
}

const cutOff = ({ frames }: Progress) =>
  mediaError('FILE_INVALID', `it is cut off within a frame${sentBefore(frames)}`)

/** How much of a file there was. */
class Progress {
  frames = 0
  #firstTick = 0
  #lastTick = 0
  #longestStep = 0

  /** One more frame. Returns its ticks from the first. */
  next(tick: number): number {
    if (this.frames++ === 0) this.#firstTick = tick
    else this.#longestStep = Math.max(this.#longestStep, tick - this.#lastTick)
    this.#lastTick = tick
    return tick - this.#firstTick
  }

  /** Throws FILE_INVALID. */
  refuseUnlessWhole(stated: number): void {
    if (this.frames === 0) throw mediaError('FILE_INVALID', 'IVF without a frame')
    if (!this.#isWhole(stated))
      throw mediaError(
        'FILE_INVALID',
        `it is cut off: ${this.frames} frames came, and have been sent; its header has a length of ${stated}`,
      )
  }

  /**
   * Encoders state the number of frames, ffmpeg the ticks to the end of the last one, however long that is: the same where each frame takes a
   * tick. In a pipe both state something else, as they cannot go back.
   */
  #isWhole(stated: number): boolean {
    const ticks = this.#lastTick - this.#firstTick
    const canBeTicks = stated > ticks && this.#longestStep !== 1
    return unknownLengths.includes(stated) || this.frames >= stated || canBeTicks
  }
}

/** RFC 6386, section 9.1. */
function isVp8Key([byte = 1]: Uint8Array): boolean {
  return (byte & 1) === 0
}

/** VP9 bitstream specification, section 6.2: two bits of marker, two of profile (three in profile 3), show_existing_frame, frame_type. */
function isVp9Key([byte = 0]: Uint8Array): boolean {
  const profile = ((byte >> 5) & 1) | ((byte >> 3) & 2)
  const bits = profile === 3 ? byte >> 1 : byte >> 2
  return (bits & 3) === 0
}

/** AV1 bitstream specification, section 5.3: with a sequence header there is a key frame. */
function isAv1Key(frame: Uint8Array): boolean {
  for (let offset = 0; offset < frame.length;) {
    const header = frame[offset] ?? 0
    if (((header >> 3) & 15) === 1) return true
    if ((header & 2) === 0) return false
    offset += header & 4 ? 2 : 1
    let [length, shift] = [0, 0]
    for (let more = true; more && shift < 35; shift += 7) {
      const byte = frame[offset++] ?? 0
      length += (byte & 127) * 2 ** shift
      more = byte > 127
    }
    offset += length
  }
  return false
}
