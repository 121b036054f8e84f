import { placeBefore } from '@runnel/protocol'
import { expect, it } from 'vitest'
import { at, chainOf, times } from '../resend/batches.testkit.ts'
import { ChainHeads } from './chain-heads.ts'
import { LiveBuffer } from './live-buffer.ts'

const messages = chainOf(times(1, 100), { contentBytes: 10, perBatch: 100 }).flatMap(
  (batch) => batch.messages,
)

function drain(buffer: LiveBuffer): number[] {
  const all: number[] = []
  for (let next = buffer.shift(); next !== undefined; next = buffer.shift()) all.push(next.timestamp)
  return all
}

it('gives what it holds by place, however it came', () => {
  const buffer = new LiveBuffer({ maxMessages: 100, maxBytes: 1_000 })
  const [first, second] = messages
  if (first !== undefined) buffer.push(first)
  for (const message of messages.slice(2, 50)) buffer.push(message)
  expect(buffer.shift()).toBe(first)
  if (second !== undefined) buffer.push(second)
  if (first !== undefined) buffer.push(first)
  for (const message of messages.slice(50).toReversed()) buffer.push(message)
  expect(drain(buffer)).toEqual(times(1, 100))
  expect(buffer.takeDropped()).toBeUndefined()
})

it('drops the oldest at a limit, and remembers between which places', () => {
  for (const limits of [
    { maxMessages: 10, maxBytes: 1_000 },
    { maxMessages: 1_000, maxBytes: 100 },
  ]) {
    const buffer = new LiveBuffer(limits)
    for (const message of messages) buffer.push(message)
    const [chain = expect.fail()] = messages
    const held = () => [90, 91, 101].map((time) => buffer.holds(chain, at(time)))
    expect(held()).toEqual([true, true, false])
    const { chains, ...stretch } = buffer.takeDropped() ?? expect.fail()
    expect(stretch).toEqual({ from: at(1), to: at(90) })
    expect([...chains.values()]).toMatchObject([{ after: placeBefore(at(1)), upTo: at(90) }])
    expect(buffer.takeDropped()).toBeUndefined()
    expect(held()).toEqual([false, true, false])
    expect(drain(buffer)).toEqual(times(91, 100))
  }
})

it('remembers of so many chains what had to go', () => {
  const buffer = new LiveBuffer({ maxMessages: 3, maxBytes: 1_000 })
  const [message = expect.fail()] = messages
  for (const messageChainId of ['a', 'b', 'c', 'd', 'e', 'f', 'g'])
    buffer.push({ ...message, messageChainId })
  expect([...buffer.chains()]).toHaveLength(3)
  expect(buffer.takeDropped()?.chains.size).toBe(3)
})

it('knows how far each chain was delivered, of those used lately', () => {
  const heads = new ChainHeads(2)
  const chain = (messageChainId: string) => {
    const [message] = messages
    if (message === undefined) throw new Error('No message')
    return { ...message, messageChainId }
  }
  expect(heads.advance(chain('a'), at(5))).toBe(true)
  expect(heads.advance(chain('a'), at(5))).toBe(false)
  expect(heads.advance(chain('b'), at(1))).toBe(true)
  expect(heads.advance(chain('a'), at(6))).toBe(true)
  expect(heads.advance(chain('c'), at(1))).toBe(true)
  expect(heads.get(chain('b'))).toBeUndefined()
  expect([...heads].map(([{ messageChainId }, last]) => [messageChainId, last.timestamp])).toEqual([
    ['a', 6],
    ['c', 1],
  ])
})
