import { expect, it } from 'vitest'
import type { BareLink } from '../bare/bare-link.ts'
import { readBare, serveBare } from './bare-resend.ts'

it('reads some batches to warm up, then all', async () => {
  const batches = Array.from({ length: 5 }, (_, index) => ({ bytes: new Uint8Array([index]) }))
  const sent: number[] = []
  const [server, reader] = linkedPair((message) => sent.push(message[0] ?? -1))
  serveBare(server, batches)
  expect(await readBare(reader, { warmUp: 2, all: 5 })).toBeGreaterThanOrEqual(0)
  expect(sent).toEqual([0, 1, 0, 1, 2, 3, 4])
})

/** Two ends in this process; tells what the first sends. */
function linkedPair(onSent: (message: Uint8Array) => void): [BareLink, BareLink] {
  const end = (send: (message: Uint8Array) => void): BareLink => ({
    ...{ send, buffered: () => 0, close: () => {}, onMessage: () => {} },
  })
  const first: BareLink = end((message) => {
    onSent(message)
    setImmediate(() => second.onMessage(message))
  })
  const second: BareLink = end((message) => setImmediate(() => first.onMessage(message)))
  return [first, second]
}
