import type { StorageNodeInfo } from '@runnel/client'
import type { StoredRange } from '../store/message-store.ts'

/** Reads from another storage node. */
export interface RepairSource {
  /**
   * Every batch of the range that the storage node has, unchecked, in its order; read as fast as it is iterated over. Throws the
   * reason when it fails.
   */
  read(node: StorageNodeInfo, range: StoredRange, signal: AbortSignal): AsyncIterable<Uint8Array>
}
