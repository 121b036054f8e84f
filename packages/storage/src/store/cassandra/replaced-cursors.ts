import { sideChains } from '@runnel/protocol'
import { LRU } from 'tiny-lru'
import type { StoredBatch } from './stored-batch.ts'

/** Chains of cursors whose latest are remembered while a key part is looked through, those that came last: whoever may subscribe can make ever new ones. */
const maxCursorChains = 100_000
/** Cursors of one chain that end together, and are remembered. Others of them are deleted another time. */
const maxEndingTogether = 100

/**
 * Of each chain of cursors all whose messages are from before a time and that a later one replaces, as soon as that is found out: one may
 * begin later and end earlier. The batches are those of a stream part in their order.
 */
export async function* replacedCursors(
  batches: AsyncIterable<StoredBatch>,
  beforeMs: number,
  maxChains = maxCursorChains,
): AsyncGenerator<StoredBatch> {
  const latest = new LRU<readonly StoredBatch[]>(maxChains)
  for await (const batch of batches) {
    if (!batch.name.startsWith(sideChains.cursor)) continue
    const known = latest.get(batch.chain) ?? []
    const lastMs = known[0]?.lastTime ?? -1
    if (batch.lastTime > lastMs) latest.set(batch.chain, [batch])
    else if (batch.lastTime === lastMs && known.length < maxEndingTogether)
      latest.set(batch.chain, [...known, batch])
    const replaced = batch.lastTime > lastMs ? known : batch.lastTime < lastMs ? [batch] : []
    for (const one of replaced) if (one.lastTime < beforeMs) yield one
  }
}
