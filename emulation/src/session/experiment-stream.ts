import {
  limits,
  toStreamId,
  toStreamPartId,
  type NodeId,
  type StreamId,
  type StreamPartId,
} from '@runnel/protocol'

/** As many as a stream can have: each run has one of its own, so that nothing of the one before is taken for its own. */
export const experimentPartitions = limits.maxPartitions

/** The stream that experiments use: everybody may publish in it; its owner is the tracker. */
export function experimentStream(trackerId: NodeId): StreamId {
  return toStreamId(`${trackerId}/experiment`)
}

/** The stream part of a run. */
export function experimentPart(trackerId: NodeId, run: number): StreamPartId {
  return toStreamPartId(experimentStream(trackerId), run % experimentPartitions)
}
