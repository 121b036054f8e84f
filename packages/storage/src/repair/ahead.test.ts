import { expect, it } from 'vitest'
import { ahead } from './ahead.ts'

/** Items as they are given, and results as they are made, both by the test. */
function scripted(maxWeight: number) {
  const results: PromiseWithResolvers<string>[] = []
  const asked: number[] = []
  const items: PromiseWithResolvers<number>[] = [0, 1, 2, 3].map(() => Promise.withResolvers<number>())
  let isEnded = false
  async function* source() {
    try {
      for (const item of items) yield await item.promise
    } finally {
      isEnded = true
    }
  }
  const begin = (item: number) => {
    asked.push(item)
    const result = Promise.withResolvers<string>()
    results.push(result)
    return result.promise
  }
  const given = ahead(source(), { begin, weigh: () => 1, maxWeight })
  return { items, results, asked, given, isEnded: () => isEnded }
}
const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

it('begins so many items before the first is done, and gives them in order', async () => {
  const { items, results, asked, given } = scripted(2)
  items.forEach(({ resolve }, i) => resolve(i))
  const first = given.next()
  await turn()
  expect(asked).toEqual([0, 1])
  results[1]?.resolve('b')
  await turn()
  results[0]?.resolve('a')
  expect(await first).toEqual({ value: 'a', done: false })
  expect(await given.next()).toEqual({ value: 'b', done: false })
  const third = given.next()
  await turn()
  for (const { resolve } of results) resolve('rest')
  expect(await third).toEqual({ value: 'rest', done: false })
})

it('gives what is done while no item comes, and before the error with which they end', async () => {
  const { items, results, given } = scripted(9)
  items[0]?.resolve(0)
  items[1]?.resolve(1)
  const first = given.next()
  await turn()
  results[0]?.resolve('a')
  expect(await first).toEqual({ value: 'a', done: false })
  items[2]?.reject(new Error('lost'))
  const second = given.next()
  await turn()
  results[1]?.resolve('b')
  expect(await second).toEqual({ value: 'b', done: false })
  await expect(given.next()).rejects.toThrow('lost')
})

it('ends with the error of a result, and leaves the items', async () => {
  const { items, results, given, isEnded } = scripted(9)
  items[0]?.resolve(0)
  const first = given.next()
  await turn()
  results[0]?.reject(new Error('bad'))
  await expect(first).rejects.toThrow('bad')
  items[1]?.resolve(1)
  await turn()
  expect(isEnded()).toBe(true)
})
