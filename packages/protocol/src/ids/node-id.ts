import { toHex } from '../codec/hex.ts'
import { protocolError } from '../errors.ts'

/** The Ethereum address of a node's, tracker's or publisher's key: `0x` and 40 lower-case hexadecimal digits. */
export type NodeId = string & { readonly __brand: 'NodeId' }

const pattern = /^0x[0-9a-f]{40}$/

/** Checks and normalises (to lower case) a node id. Throws INVALID_NODE_ID. */
export function toNodeId(text: string): NodeId {
  const id = text.toLowerCase()
  if (!pattern.test(id)) throw protocolError('INVALID_NODE_ID', JSON.stringify(text.slice(0, 60)))
  return id as NodeId
}

/** Whether it is a node id as `toNodeId` gives it. */
export function isNodeId(value: unknown): value is NodeId {
  return typeof value === 'string' && pattern.test(value)
}

/** The node id of a 20-byte address. Throws INVALID_NODE_ID on another length. */
export function nodeIdFromBytes(bytes: Uint8Array): NodeId {
  if (bytes.length !== 20) throw protocolError('INVALID_NODE_ID', `${bytes.length} bytes instead of 20`)
  return toHex(bytes) as NodeId
}

/** The 20 bytes of a node id. */
export function nodeIdToBytes(id: NodeId): Uint8Array {
  const bytes = new Uint8Array(20)
  for (let i = 0; i < 20; i++) bytes[i] = (digitAt(id, 2 + 2 * i) << 4) | digitAt(id, 3 + 2 * i)
  return bytes
}

/** The value of a lower-case hexadecimal digit. Trackers do this for every neighbour of every instruction. */
function digitAt(id: NodeId, index: number): number {
  const code = id.charCodeAt(index)
  return code - (code < 0x61 ? 0x30 : 0x57)
}
