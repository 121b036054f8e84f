import { expect, it } from 'vitest'
import { at, chainOf, times } from './batches.testkit.ts'
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

it('gives all at once when it is known where the last begin', () => {
  const window = new LastWindow({ maxMessages: 7, maxBytes: 1_000 }, () => at(44))
  const given = messages.slice(-7).map((message) => window.push(message).length)
  expect(given).toEqual([0, 2, 1, 1, 1, 1, 1])
  expect(window.end()).toEqual([])
})

it('waits for the end where the last may begin with any of several of the same place', () => {
  const window = new LastWindow({ maxMessages: 7, maxBytes: 1_000 }, () => at(44))
  const tied = chainOf([44], { chainId: 'b' }).flatMap((batch) => batch.messages)
  for (const message of [...tied, ...messages.slice(-7)]) expect(window.push(message)).toEqual([])
  expect(window.end()).toEqual(messages.slice(-7))
})
