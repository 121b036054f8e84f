import { describe, expect, it } from 'vitest'
import { BoundedQueue } from './bounded-queue.ts'

const unlimited = { maxItems: Infinity, maxBytes: Infinity }

async function rest<T>(queue: BoundedQueue<T>): Promise<T[]> {
  queue.close()
  const items: T[] = []
  for (let it = await queue.next(); !it.done; it = await queue.next()) items.push(it.value)
  return items
}

describe('a bounded queue', () => {
  it('gives items in order', async () => {
    const queue = new BoundedQueue<number>(unlimited)
    for (let i = 0; i < 100; i++) queue.push(i, 1)
    expect(await queue.next()).toEqual({ done: false, value: 0 })
    queue.push(100, 1)
    expect(queue.length).toBe(100)
    expect(await rest(queue)).toEqual(Array.from({ length: 100 }, (_, i) => i + 1))
  })

  it('gives an item to who waits longest', async () => {
    const queue = new BoundedQueue<string>({ maxItems: 1, maxBytes: 1 })
    const first = queue.next()
    const second = queue.next()
    expect(queue.push('a', 1) + queue.push('b', 1)).toBe(0)
    expect([await first, await second]).toEqual([
      { done: false, value: 'a' },
      { done: false, value: 'b' },
    ])
  })

  it('drops the oldest above the number of items, and says how many', async () => {
    const queue = new BoundedQueue<number>({ maxItems: 3, maxBytes: Infinity })
    expect([1, 2, 3, 4, 5].map((i) => queue.push(i, 1))).toEqual([0, 0, 0, 1, 1])
    expect(await rest(queue)).toEqual([3, 4, 5])
  })

  it('drops the oldest above the bytes, but keeps a single item of any size', async () => {
    const queue = new BoundedQueue<string>({ maxItems: Infinity, maxBytes: 10 })
    queue.push('a', 4)
    queue.push('b', 4)
    expect(queue.push('c', 9)).toBe(2)
    expect(queue.push('huge', 1000)).toBe(1)
    expect(await rest(queue)).toEqual(['huge'])
  })

  it('counts the bytes of what was taken no more', async () => {
    const queue = new BoundedQueue<string>({ maxItems: Infinity, maxBytes: 10 })
    queue.push('a', 10)
    await queue.next()
    queue.push('b', 5)
    expect(queue.push('c', 5)).toBe(0)
    expect(await rest(queue)).toEqual(['b', 'c'])
  })

  it('ends those who wait when closed, and takes no more', async () => {
    const queue = new BoundedQueue<number>(unlimited)
    const waiting = queue.next()
    queue.close()
    queue.close()
    expect(queue.push(1, 1)).toBe(0)
    expect(await waiting).toEqual({ done: true, value: undefined })
    expect(await queue.next()).toEqual({ done: true, value: undefined })
  })

  it('lets a producer that can wait know when there is room', async () => {
    const queue = new BoundedQueue<number>({ maxItems: 4, maxBytes: Infinity })
    await queue.room()
    for (const item of [1, 2, 3, 4]) queue.push(item, 1)
    let hasRoom = false
    const waiting = queue.room().then(() => (hasRoom = true))
    await queue.next()
    await Promise.resolve()
    expect(hasRoom).toBe(false)
    await queue.next()
    await waiting
    queue.push(5, 1)
    const closing = queue.room()
    queue.close()
    await closing
  })
})
