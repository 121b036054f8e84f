import type { StreamInfo } from './ports.ts'

/**
 * How much older than its stream a message may be, in milliseconds. Publishers' clocks and the chain's differ: a block's
 * time is when its proposer began it, and an embedded chain that makes many blocks at once runs ahead.
 */
export const createdToleranceMs = 5 * 60_000

/** Returns the oldest timestamp of messages that belong to the stream; 0 if the stream's time of creation is unknown. */
export function oldestOfStreamMs({ createdMs }: Pick<StreamInfo, 'createdMs'>): number {
  return Math.max(0, createdMs - createdToleranceMs)
}

/** Whether a message with this timestamp belongs to an earlier, deleted stream with the same id, and not to this one. */
export function predates(timestampMs: number, stream: Pick<StreamInfo, 'createdMs'>): boolean {
  return timestampMs < oldestOfStreamMs(stream)
}
