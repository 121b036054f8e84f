import { formatCount } from '../format.ts'

/** What a list of the trackers holds, and whether that is all. */
export interface ListSize {
  readonly total: number
  /** The trackers had no more. */
  readonly isWhole: boolean
}

/** A figure taken from what was read: the whole list may have a larger one. */
export function figure(words: string, { isWhole }: Pick<ListSize, 'isWhole'>): string {
  return isWhole ? words : `at least ${words}`
}

/** Says that only some of a list are shown; undefined where all are, or none. A search knows how many it found, not how many there are. */
export function shownOf(
  shown: number,
  { total, isWhole }: ListSize,
  { isSearch, isSorted }: { readonly isSearch: boolean; readonly isSorted: boolean },
): string | undefined {
  if (shown === 0 || (shown >= total && isWhole)) return undefined
  const some = isSorted && isWhole ? `The ${formatCount(shown)} largest` : formatCount(shown)
  return `${some} of ${figure(formatCount(total), { isWhole: isWhole || !isSearch })} are shown.`
}
