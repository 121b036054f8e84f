/** One encoded audio frame: the content of an urgent message. */
export interface AudioObject {
  readonly kind: 'audio'
  /** The track in its member's catalogue. */
  readonly track: number
  /** When it was recorded, in microseconds from an arbitrary start that all tracks of a member share. */
  readonly timestampUs: number
  /** Loudness: 0 is the loudest, 127 silence, in −dBov (RFC 6464, section 3). */
  readonly level: number
  readonly data: Uint8Array
}

/** One encoded picture. Its group and object are those of the urgent message: a group begins with a key frame. */
export interface VideoObject {
  readonly kind: 'video'
  readonly track: number
  readonly timestampUs: number
  readonly isKey: boolean
  /** 0 for pictures that all others build on; a layer can be left out together with those above it. */
  readonly temporalLayer: number
  /** How much smaller the object number of the picture is that it builds on; 0 for a key frame. */
  readonly dependency: number
  readonly data: Uint8Array
}

export type MediaObject = AudioObject | VideoObject

const kinds = ['audio', 'video'] as const
const audioHeaderBytes = 9
const videoHeaderBytes = 10
/** Longest header of an encoded frame. */
export const maxHeaderBytes = videoHeaderBytes
/** Largest value of six bytes: nine years. */
export const maxTimestampUs = 2 ** 48 - 1

/**
 * The content of a message: kind (0 audio, 1 video), track, timestamp (6 bytes, big endian); then of audio the level, of video a byte with the
 * key flag (bit 0) and the layer (bits 1 and 2) and one with the dependency; then the encoded frame.
 */
export function encodeObject(object: MediaObject): Uint8Array {
  const headerBytes = object.kind === 'audio' ? audioHeaderBytes : videoHeaderBytes
  const bytes = new Uint8Array(headerBytes + object.data.length)
  const view = new DataView(bytes.buffer)
  view.setUint8(0, kinds.indexOf(object.kind))
  view.setUint8(1, object.track)
  view.setUint16(2, Math.floor(object.timestampUs / 2 ** 32))
  view.setUint32(4, object.timestampUs % 2 ** 32)
  if (object.kind === 'audio') view.setUint8(8, object.level)
  else {
    view.setUint8(8, (object.isKey ? 1 : 0) | (object.temporalLayer << 1))
    view.setUint8(9, object.dependency)
  }
  bytes.set(object.data, headerBytes)
  return bytes
}

/** What `encodeObject` was given; undefined for anything else. `data` is a view. */
export function decodeObject(bytes: Uint8Array): MediaObject | undefined {
  if (bytes.length <= audioHeaderBytes) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const kind = kinds[view.getUint8(0)]
  const track = view.getUint8(1)
  const timestampUs = view.getUint16(2) * 2 ** 32 + view.getUint32(4)
  const flags = view.getUint8(8)
  if (kind === 'audio') {
    if (flags > 127) return undefined
    return { kind, track, timestampUs, level: flags, data: bytes.subarray(audioHeaderBytes) }
  }
  if (kind === undefined || bytes.length <= videoHeaderBytes || flags > 7) return undefined
  const [isKey, dependency] = [(flags & 1) === 1, view.getUint8(9)]
  // What builds on nothing is a key frame, and nothing else is.
  if (isKey !== (dependency === 0)) return undefined
  const data = bytes.subarray(videoHeaderBytes)
  return { kind, track, timestampUs, isKey, temporalLayer: flags >> 1, dependency, data }
}
