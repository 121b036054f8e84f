import type { ControlPacket } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { idOf, partId, streamId } from '../core.testkit.ts'
import { newCounters } from '../counter-names.ts'
import { Fetches } from './fetches.ts'

const chain = { streamId, partition: 0, publisherId: idOf(7), messageChainId: 'c' }
const ranges = [1, 3].map((timestamp) => ({
  after: { timestamp, sequenceNumber: 0 },
  upTo: { timestamp: timestamp + 1, sequenceNumber: 0 },
}))

function script(maxFetchesInFlight: number) {
  const counters = newCounters()
  const sent: ControlPacket[] = []
  const effects = { sendControl: (_: unknown, packet: ControlPacket) => void sent.push(packet) }
  const fetches = new Fetches({ maxFetchesInFlight, hostAskMs: 100 }, { counters, effects })
  const send = (peer: number, dueMs: number, sentMs = 0) =>
    fetches.send({ peerId: idOf(peer), streamPartId: partId, chain, claim: undefined, sentMs, dueMs }, ranges)
  return { counters, sent, fetches, send }
}

describe('Fetches', () => {
  it('asks for the ranges, counts that, and knows the answer by its number', () => {
    const { fetches, send, sent, counters } = script(2)
    const requestId = send(2, 100)
    const { publisherId, messageChainId } = chain
    const packet = { type: 'fetch', requestId, streamPartId: partId, publisherId, messageChainId, ranges }
    expect([sent, counters['fetch.sent']]).toEqual([[packet], 1])
    expect(fetches.take(requestId)).toMatchObject({ streamPartId: partId, chain, rangeCount: 2 })
    expect(fetches.take(requestId)).toBeUndefined()
  })

  it('allows so many to one neighbour, until one ends', () => {
    const { fetches, send, sent } = script(2)
    const [first] = [send(2, 100), send(2, 100)]
    expect([send(2, 100), send(3, 100), sent.length]).toEqual([0, 3, 3])
    expect(fetches.take(first, idOf(3))).toBeUndefined()
    expect(fetches.take(first, idOf(2))).toMatchObject({ requestId: first })
    expect(send(2, 100)).not.toBe(0)
  })

  it('does not count those whose answers were lost, though nobody waits for them any more', () => {
    const { fetches, send } = script(2)
    const ids = [send(2, 100), send(2, 200)]
    expect(send(2, 300, 99)).toBe(0)
    expect(send(2, 300, 100)).not.toBe(0)
    expect(ids.map((id) => fetches.take(id) !== undefined)).toEqual([false, true])
  })

  it('does not count long what is asked for once', () => {
    const { fetches, sent } = script(1)
    const once = (nowMs: number): boolean => fetches.once(idOf(2), chain, ranges, nowMs)
    expect([once(0), once(99), once(100), sent.length]).toEqual([true, false, true, 2])
  })

  it('forgets those to a neighbour whose link closed', () => {
    const { fetches, send } = script(1)
    const ids = [send(2, 100), send(3, 100)]
    fetches.linkClosed(idOf(2))
    expect([send(2, 100) !== 0, send(3, 100) !== 0]).toEqual([true, false])
    expect(ids.map((id) => fetches.take(id) !== undefined)).toEqual([false, true])
  })
})
