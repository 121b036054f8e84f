/** Requests in flight at once. */
const maxConcurrent = 32

/** Does all tasks, several at once. Rejects with the first error, after the running ones have ended. */
export async function forAll<T>(items: Iterable<T>, work: (item: T) => Promise<unknown>): Promise<void> {
  const iterator = items[Symbol.iterator]()
  const worker = async () => {
    for (let step = iterator.next(); !step.done; step = iterator.next()) await work(step.value)
  }
  const settled = await Promise.allSettled(Array.from({ length: maxConcurrent }, worker))
  for (const result of settled) if (result.status === 'rejected') throw result.reason
}

/** Ordered sequences as one; the first items are fetched at once. */
export async function* mergeAsync<T>(
  sources: readonly AsyncGenerator<T>[],
  compare: (a: T, b: T) => number,
): AsyncGenerator<T> {
  const firsts = await Promise.all(
    sources.map(async (source) => {
      const step = await source.next()
      return step.done ? [] : [{ source, value: step.value }]
    }),
  )
  const heads = firsts.flat()
  while (heads.length > 0) {
    const least = heads.reduce((a, b) => (compare(b.value, a.value) < 0 ? b : a))
    yield least.value
    const step = await least.source.next()
    if (step.done) heads.splice(heads.indexOf(least), 1)
    else least.value = step.value
  }
}

/** Sequences begun ahead, at most, once several in a row turn out to be needed. */
const maxAhead = 4

/** What `open` gives for each item, one sequence after the other; the further it gets, the more are begun ahead. */
export async function* inSequence<S, T>(
  items: AsyncGenerator<S>,
  open: (item: S) => AsyncGenerator<T>,
): AsyncGenerator<T> {
  const begun: { readonly sequence: AsyncGenerator<T>; readonly first: Promise<IteratorResult<T>> }[] = []
  for (let ahead = 1; ; ahead = Math.min(maxAhead, ahead + 1)) {
    while (begun.length < ahead) {
      const item = await items.next()
      if (item.done) break
      const sequence = open(item.value)
      const first = sequence.next()
      // Thrown when its turn comes, if it does.
      first.catch(() => {})
      begun.push({ sequence, first })
    }
    const head = begun.shift()
    if (head === undefined) return
    for (let step = await head.first; !step.done; step = await head.sequence.next()) yield step.value
  }
}
