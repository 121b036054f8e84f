export interface AheadOptions<T, R> {
  readonly begin: (item: T) => Promise<R>
  readonly weigh: (item: T) => number
  /** Of what is begun and not yet given; a single item may have more. */
  readonly maxWeight: number
}

/**
 * What is made of each item: in order, as soon as it is there, and while that of later items is under way. Where the items end with an error, what
 * was begun before comes first. Whoever stops early should also end the items, as the next one was asked for.
 */
export async function* ahead<T, R>(
  items: AsyncIterable<T>,
  { begin, weigh, maxWeight }: AheadOptions<T, R>,
): AsyncGenerator<R, void, undefined> {
  const iterator: AsyncIterator<T, unknown> = items[Symbol.asyncIterator]()
  const begun: { readonly result: Promise<R>; readonly weight: number }[] = []
  let weight = 0
  let next = handledLater(iterator.next())
  try {
    for (;;) {
      const [first] = begun
      if (first !== undefined && (weight >= maxWeight || (await isSooner(first.result, next)))) {
        begun.shift()
        weight -= first.weight
        yield await first.result
        continue
      }
      const item = await next.catch(() => undefined)
      if (item === undefined || item.done === true) break
      const one = { result: handledLater(begin(item.value)), weight: weigh(item.value) }
      begun.push(one)
      weight += one.weight
      next = handledLater(iterator.next())
    }
    for (const { result } of begun) yield await result
    await next
  } finally {
    // Not awaited: it would wait for the item that was asked for.
    iterator.return?.().catch(() => {})
  }
}

/** Its error is taken when its turn comes, or is of no interest any more. */
function handledLater<P extends Promise<unknown>>(promise: P): P {
  promise.catch(() => {})
  return promise
}

/** Whether the first of two is settled before the second, or both are already. */
function isSooner(first: Promise<unknown>, second: Promise<unknown>): Promise<boolean> {
  const [yes, no] = [() => true, () => false]
  return Promise.race([first.then(yes, yes), second.then(no, no)])
}
