import { expect, it } from 'vitest'
import { QueueBudget } from './queue-budget.ts'

it('refuses more messages than it may hold, until some are given back', () => {
  const budget = new QueueBudget({ maxQueuedMessages: 2, maxQueuedBytes: 1000 })
  budget.take(1)
  budget.take(1)
  expect(() => budget.take(1)).toThrow(expect.objectContaining({ code: 'PUBLISH_QUEUE_FULL' }))
  budget.giveBack(1)
  budget.take(1)
  expect(budget.messages).toBe(2)
})

it('refuses more bytes than it may hold, but takes a single message of any size', () => {
  const budget = new QueueBudget({ maxQueuedMessages: 10, maxQueuedBytes: 10 })
  budget.take(11)
  expect(() => budget.take(0)).toThrow(expect.objectContaining({ code: 'PUBLISH_QUEUE_FULL' }))
  budget.giveBack(11)
  budget.take(4)
  budget.take(6)
  expect(() => budget.take(1)).toThrow(expect.objectContaining({ code: 'PUBLISH_QUEUE_FULL' }))
})

it('says when half of it is free again', async () => {
  const budget = new QueueBudget({ maxQueuedMessages: 4, maxQueuedBytes: 100 })
  await budget.room()
  for (const bytes of [1, 1, 60]) budget.take(bytes)
  expect(budget.hasRoom).toBe(false)
  const told: string[] = []
  const waiting = [1, 2].map(async () => (await budget.room(), told.push('room')))
  budget.giveBack(1)
  await Promise.resolve()
  expect(told).toEqual([])
  budget.giveBack(60)
  await Promise.all(waiting)
  expect(told).toEqual(['room', 'room'])
})
