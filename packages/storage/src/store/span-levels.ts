import { limits } from '@runnel/protocol'

/**
 * A batch may begin before a range and reach into it. So that a look-up need not scan all that began before, batches
 * are kept apart by how long they last: of level `l`, none lasts longer than `widthMsByLevel[l]`, so none that began
 * earlier than that before the range reaches into it; and of those that began later, each is at least a sixteenth as
 * long, which bounds how many are looked at in vain.
 */
export const widthMsByLevel: readonly number[] = [0, 16, 16 ** 2, 16 ** 3, limits.maxBatchSpanMs]

/** The level of a batch whose last message is `spanMs` after its first. */
export function levelOf(spanMs: number): number {
  return widthMsByLevel.findIndex((widthMs) => spanMs <= widthMs)
}
