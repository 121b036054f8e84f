/**
 * Does something for every item, so many at a time; results in the order of the items. After the first failure, or once the given signal has aborted,
 * nothing is begun any more, and the signal that `work` gets has aborted. Rejects with that failure, or that reason, once all that was begun has ended.
 */
export async function inParallel<Item, Result>(
  atOnce: number,
  items: readonly Item[],
  work: (item: Item, signal: AbortSignal) => Promise<Result>,
  given?: AbortSignal,
): Promise<Result[]> {
  const results: Result[] = []
  const failed = new AbortController()
  const signal = AbortSignal.any([failed.signal, ...(given ? [given] : [])])
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < items.length && !signal.aborted) {
      const index = next++
      try {
        results[index] = await work(items[index] as Item, signal)
      } catch (error) {
        // That of the first counts: others may have failed because of it.
        failed.abort(error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker))
  if (failed.signal.aborted || next < items.length) signal.throwIfAborted()
  return results
}
