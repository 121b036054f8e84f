import { expect, it } from 'vitest'
import { chainOf, times } from './batches.testkit.ts'
import { LastWindow } from './last-window.ts'

const messages = chainOf(times(1, 50), { contentBytes: 10, perBatch: 50 }).flatMap((batch) => batch.messages)

it('keeps exactly the last', () => {
  const window = new LastWindow({ maxMessages: 7, maxBytes: 1_000 })
  for (const message of messages) expect(window.push(message)).toEqual([])
  expect(window.end()).toEqual(messages.slice(-7))
})

it('keeps all when there are fewer', () => {
  const window = new LastWindow({ maxMessages: 70, maxBytes: 1_000 })
  for (const message of messages) window.push(message)
  expect(window.end()).toEqual(messages)
})

it('gives early, in order, what it has no room for', () => {
  const window = new LastWindow({ maxMessages: 7, maxBytes: 35 })
  const early = messages.flatMap((message) => [...window.push(message)])
  expect([...early, ...window.end()]).toEqual(messages)
})
