import { nodeError } from '../../errors.ts'
import { parseJson } from '../publishing/content.ts'

/** The subprotocols of the gateway, the first where a client names none. */
export const subprotocols = ['runnel.json.v1', 'runnel.binary.v1'] as const
export type Subprotocol = (typeof subprotocols)[number]

/** What is said, as JSON, and content beside it as bytes, which the binary subprotocol has. */
export interface Frame {
  readonly header: unknown
  readonly content: Uint8Array | undefined
}

const lengthBytes = 4

/** `u32 length of the header ‖ header, JSON ‖ content`. */
export function encodeBinary(header: unknown, content: Uint8Array): Buffer {
  const text = Buffer.from(JSON.stringify(header))
  const length = Buffer.alloc(lengthBytes)
  length.writeUInt32BE(text.length)
  return Buffer.concat([length, text, content])
}

/** Throws INPUT_INVALID for what is no frame of the subprotocol. */
export function decodeFrame(data: Buffer, isBinary: boolean, protocol: Subprotocol): Frame {
  if (isBinary !== (protocol === 'runnel.binary.v1'))
    throw nodeError('INPUT_INVALID', `${protocol} has no ${isBinary ? 'binary' : 'text'} frames`)
  if (!isBinary) return { header: parseJson(data.toString('utf8')), content: undefined }
  const length = data.length < lengthBytes ? Infinity : data.readUInt32BE()
  if (length > data.length - lengthBytes)
    throw nodeError('INPUT_INVALID', 'the header is longer than the frame')
  const end = lengthBytes + length
  return { header: parseJson(data.toString('utf8', lengthBytes, end)), content: data.subarray(end) }
}
