import { nodeIdFromBytes, nodeIdToBytes, type NodeId } from '@runnel/protocol'
import { trackerError } from '../../errors.ts'

const idBytes = 20
/** Trackers that a circuit passes after this one: three in all. */
const maxOnward = 2

/** The first frame of a circuit between trackers: the ids of the trackers that follow, in order. */
export function encodePath(path: readonly NodeId[]): Uint8Array {
  const bytes = new Uint8Array(path.length * idBytes)
  path.forEach((id, index) => bytes.set(nodeIdToBytes(id), index * idBytes))
  return bytes
}

/** Throws CIRCUIT_UNAVAILABLE when it is not a valid path. */
export function decodePath(bytes: Uint8Array): readonly NodeId[] {
  const count = bytes.length / idBytes
  if (!Number.isInteger(count) || count > maxOnward)
    throw trackerError('CIRCUIT_UNAVAILABLE', `${bytes.length} bytes are no path`)
  return Array.from({ length: count }, (_, index) =>
    nodeIdFromBytes(bytes.subarray(index * idBytes, (index + 1) * idBytes)),
  )
}
