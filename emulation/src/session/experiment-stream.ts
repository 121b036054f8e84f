import { toStreamId, toStreamPartId, type NodeId, type StreamId, type StreamPartId } from '@runnel/protocol'

/** The stream that experiments use: everybody may publish in it; its owner is the tracker. */
export function experimentStream(trackerId: NodeId): {
  readonly streamId: StreamId
  readonly streamPartId: StreamPartId
} {
  const streamId = toStreamId(`${trackerId}/experiment`)
  return { streamId, streamPartId: toStreamPartId(streamId, 0) }
}
