import { expect, it } from 'vitest'
import { DigestQueue } from './digest-queue.ts'

it('a digest gathers what there is to tell, and the next one is some time later', () => {
  const queue = new DigestQueue<number>(20)
  expect([queue.dueMs, queue.take(0, 9)]).toEqual([Infinity, []])
  queue.add(1, 100, 60)
  expect(queue.dueMs).toBe(160)
  queue.add(2, 110)
  expect(queue.dueMs).toBe(111)
  expect(queue.take(111, 1)).toEqual([1])
  expect([queue.size, queue.dueMs]).toEqual([1, 112])
  expect(queue.take(112, 9)).toEqual([2])
  queue.add(3, 113)
  expect(queue.dueMs).toBe(132)
})
