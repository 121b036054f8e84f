import { limits } from '@runnel/protocol'

/**
 * A batch may begin before a range and reach into it. So that a look-up need not scan all earlier batches, they are stored in
 * levels by duration: on level `l`, none lasts longer than `widthMsByLevel[l]`, so none that began earlier than that before the
 * range can reach into it. Each is at least a sixteenth as long, which bounds how many are read for nothing.
 */
export const widthMsByLevel: readonly number[] = [0, 16, 16 ** 2, 16 ** 3, limits.maxBatchSpanMs]

/** The level of a batch whose last message is `spanMs` after its first. */
export function levelOf(spanMs: number): number {
  return widthMsByLevel.findIndex((widthMs) => spanMs <= widthMs)
}
