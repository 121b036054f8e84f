/** Look-ups of the registry that are under way at once. */
const maxAtOnce = 32

/** The results of asynchronous work for each item, in order, a few at a time. */
export async function mapAtOnce<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (let i = 0; i < items.length; i += maxAtOnce)
    results.push(...(await Promise.all(items.slice(i, i + maxAtOnce).map(work))))
  return results
}
