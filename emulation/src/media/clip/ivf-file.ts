import type { PictureSize } from './test-picture.ts'

/** A frame of VP8 and its place in time, counted in pictures. */
export interface ClipFrame {
  readonly isKey: boolean
  readonly data: Uint8Array
}

const headerBytes = 32
const frameHeaderBytes = 12

/** The frames of a VP8 clip that `encodeVp8` made. */
export function clipFrames(ivf: Uint8Array): ClipFrame[] {
  const view = new DataView(ivf.buffer, ivf.byteOffset, ivf.length)
  const frames: ClipFrame[] = []
  for (let at = headerBytes; at + frameHeaderBytes <= ivf.length;) {
    const length = view.getUint32(at, true)
    const data = ivf.subarray(at + frameHeaderBytes, at + frameHeaderBytes + length)
    // RFC 6386, section 9.1.
    frames.push({ isKey: ((data[0] ?? 1) & 1) === 0, data })
    at += frameHeaderBytes + length
  }
  return frames
}

/** VP8 frames as an IVF file. */
export function ivfOf(
  frames: readonly Uint8Array[],
  { width, height }: PictureSize,
  picturesPerS: number,
): Uint8Array {
  const bytes = new Uint8Array(
    headerBytes + frames.reduce((sum, { length }) => sum + frameHeaderBytes + length, 0),
  )
  const view = new DataView(bytes.buffer)
  bytes.set(Buffer.from('DKIF\0\0 \0VP80', 'latin1'))
  view.setUint16(12, width, true)
  view.setUint16(14, height, true)
  view.setUint32(16, picturesPerS, true)
  view.setUint32(20, 1, true)
  view.setUint32(24, frames.length, true)
  let at = headerBytes
  for (const [i, frame] of frames.entries()) {
    view.setUint32(at, frame.length, true)
    view.setUint32(at + 4, i, true)
    bytes.set(frame, at + frameHeaderBytes)
    at += frameHeaderBytes + frame.length
  }
  return bytes
}
