/**
 * The index of the first item from `start` on of which something is true, where it is true of all after it, too; the number of items where
 * there is none.
 */
export function firstIndex<T>(items: readonly T[], isTrue: (item: T) => boolean, start = 0): number {
  let low = start
  let high = items.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isTrue(items[middle] as T)) high = middle
    else low = middle + 1
  }
  return low
}
