import type { StorageNodeInfo } from '@runnel/client'
import type { MessageRef, StreamPartId } from '@runnel/protocol'

/** Reads from another storage node. */
export interface RepairSource {
  /** Every batch of the range that the storage node has, unchecked, in its order; read as fast as it is iterated over. Throws why it cannot. */
  read(
    node: StorageNodeInfo,
    range: { readonly streamPartId: StreamPartId; readonly from: MessageRef; readonly to: MessageRef },
    signal: AbortSignal,
  ): AsyncIterable<Uint8Array>
}
