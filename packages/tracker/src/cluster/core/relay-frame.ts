import { isRunnelError, nodeIdFromBytes, nodeIdToBytes, Reader, Writer, type NodeId } from '@runnel/protocol'
import { trackerError } from '../../errors.ts'

/**
 * What trackers tell each other of nodes that reach one and belong to the other. `open`, `up` and `gone` go to the tracker
 * that leads, `down` and `closed` back.
 */
export type RelayFrame =
  /** A node is here, having passed so many trackers. */
  | { readonly type: 'open'; readonly nodeId: NodeId; readonly hops: number }
  /** A packet of the node. */
  | { readonly type: 'up'; readonly nodeId: NodeId; readonly packet: Uint8Array }
  /** The node is no longer here, or has nothing to do with that tracker. */
  | { readonly type: 'gone'; readonly nodeId: NodeId }
  /** A packet for the node. */
  | { readonly type: 'down'; readonly nodeId: NodeId; readonly packet: Uint8Array }
  /** The tracker that leads has nothing more to do with the node, and why. */
  | { readonly type: 'closed'; readonly nodeId: NodeId; readonly code: string; readonly text: string }

const types = ['open', 'up', 'gone', 'down', 'closed'] as const
/** The longest code for which a relayed node is let go. */
const maxCodeBytes = 64
/** The longest text beside it. */
const maxTextBytes = 512
const lengthBytes = 4

/** A frame behind its length. */
export function encodeFrame(frame: RelayFrame): Uint8Array {
  const writer = new Writer()
  writer.u32(0)
  writer.u8(types.indexOf(frame.type))
  writer.raw(nodeIdToBytes(frame.nodeId))
  if (frame.type === 'open') writer.u8(frame.hops)
  if (frame.type === 'up' || frame.type === 'down') writer.raw(frame.packet)
  if (frame.type === 'closed') {
    writer.ascii(frame.code, maxCodeBytes, 'code')
    writer.text(frame.text.slice(0, maxTextBytes / 4), maxTextBytes, 'text')
  }
  const bytes = writer.view().slice()
  new DataView(bytes.buffer).setUint32(0, bytes.length - lengthBytes)
  return bytes
}

/** Throws CLUSTER_FRAME_MALFORMED. */
export function decodeFrame(bytes: Uint8Array): RelayFrame {
  try {
    const reader = new Reader(bytes)
    const type = types[reader.u8()]
    const nodeId = nodeIdFromBytes(reader.view(20))
    const frame = readRest(reader, type, nodeId)
    reader.end()
    return frame
  } catch (cause) {
    if (isRunnelError(cause, 'CLUSTER_FRAME_MALFORMED')) throw cause
    throw trackerError('CLUSTER_FRAME_MALFORMED', undefined, { cause })
  }
}

function readRest(reader: Reader, type: RelayFrame['type'] | undefined, nodeId: NodeId): RelayFrame {
  switch (type) {
    case 'open':
      return { type, nodeId, hops: reader.u8() }
    case 'up':
    case 'down':
      return { type, nodeId, packet: reader.rest() }
    case 'gone':
      return { type, nodeId }
    case 'closed':
      return {
        ...{ type, nodeId, code: reader.ascii(maxCodeBytes, 'code') },
        text: reader.text(maxTextBytes, 'text'),
      }
    default:
      throw trackerError('CLUSTER_FRAME_MALFORMED', 'of an unknown type')
  }
}

/** Takes frames out of bytes that arrive in pieces. */
export class FrameReader {
  readonly #maxFrameBytes: number
  #pending: Uint8Array = new Uint8Array(0)

  constructor(options: { readonly maxFrameBytes: number }) {
    this.#maxFrameBytes = options.maxFrameBytes
  }

  /** The frames that are complete now. Throws CLUSTER_FRAME_MALFORMED, also for one that is too large. */
  push(bytes: Uint8Array): RelayFrame[] {
    const all = joined(this.#pending, bytes)
    const view = new DataView(all.buffer, all.byteOffset, all.byteLength)
    const frames: RelayFrame[] = []
    let offset = 0
    while (all.length - offset >= lengthBytes) {
      const length = view.getUint32(offset)
      if (length > this.#maxFrameBytes) throw trackerError('CLUSTER_FRAME_MALFORMED', `${length} bytes`)
      const end = offset + lengthBytes + length
      if (end > all.length) break
      frames.push(decodeFrame(all.subarray(offset + lengthBytes, end)))
      offset = end
    }
    this.#pending = all.slice(offset)
    return frames
  }
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  if (a.length === 0) return b
  const bytes = new Uint8Array(a.length + b.length)
  bytes.set(a)
  bytes.set(b, a.length)
  return bytes
}
