/**
 * The place of each among all by when it heard: 0 of the first, 1 of the last. Equal ones share the middle of their places;
 * those that never heard (undefined) are last.
 */
export function ranksOf(delaysMs: readonly (number | undefined)[]): number[] {
  const order = delaysMs.map((delayMs, at) => ({ at, delayMs: delayMs ?? Infinity }))
  order.sort((a, b) => (a.delayMs < b.delayMs ? -1 : a.delayMs > b.delayMs ? 1 : 0))
  const ranks = delaysMs.map(() => 0)
  const last = Math.max(1, order.length - 1)
  for (let from = 0, to = 0; from < order.length; from = to) {
    while (to < order.length && order[to]?.delayMs === order[from]?.delayMs) to++
    for (const { at } of order.slice(from, to)) ranks[at] = (from + to - 1) / 2 / last
  }
  return ranks
}
