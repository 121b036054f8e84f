import {
  fromBase64Url,
  isSameBytes,
  nodeIdFromBytes,
  nodeIdToBytes,
  readerIdBytes,
  toBase64Url,
  type NodeId,
} from '@runnel/protocol'
import type { PresenceMessage } from '../presence/presence-message.ts'
import type { SideMessage } from '../side/side-part.ts'
import { readerLimits } from './limits.ts'

/** The chains in which members of groups say that they are there begin with this; the rest is the node's id. */
export const groupPrefix = '~g'

/** The first byte of what a member says. */
const [here, gone] = [1, 2]
/** Instead of a slot, while it does not know which are taken. */
const noSlot = 255

export const groupChain = (nodeId: NodeId): string => `${groupPrefix}${toBase64Url(nodeIdToBytes(nodeId))}`

/** `u8 1 ‖ reader (16) ‖ u8 slot`. */
export function groupBytes(readerId: Uint8Array, slot: number | undefined): Uint8Array {
  return Uint8Array.of(here, ...readerId, slot ?? noSlot)
}

/** `u8 2 ‖ reader (16)`. */
export function goodbyeBytes(readerId: Uint8Array): Uint8Array {
  return Uint8Array.of(gone, ...readerId)
}

/** What a member of a reader says, its slot as `data`, null where it has none yet; undefined where it is none, of another reader, or of a later version. */
export function groupMessageIn(
  { publisherId, messageChainId, place, content }: SideMessage,
  readerId: Uint8Array,
): PresenceMessage | undefined {
  const nodeBytes = fromBase64Url(messageChainId.slice(groupPrefix.length))
  const [kind] = content
  const length = 1 + readerIdBytes + (kind === here ? 1 : 0)
  if (nodeBytes?.length !== 20 || (kind !== here && kind !== gone) || content.length !== length)
    return undefined
  if (!isSameBytes(content.subarray(1, 1 + readerIdBytes), readerId)) return undefined
  const slot = content[1 + readerIdBytes] ?? noSlot
  if (slot >= readerLimits.maxGroupMembers && slot !== noSlot) return undefined
  return {
    userId: publisherId,
    nodeId: nodeIdFromBytes(nodeBytes),
    timestamp: place.timestamp,
    isHere: kind === here,
    data: slot === noSlot ? 'null' : String(slot),
  }
}
