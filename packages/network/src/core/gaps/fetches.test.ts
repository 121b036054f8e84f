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
  const lossy: ControlPacket[] = []
  const effects = {
    sendControl(_: unknown, packet: ControlPacket, mayLose?: boolean) {
      sent.push(packet)
      if (mayLose === true) lossy.push(packet)
    },
  }
  const fetches = new Fetches(
    { maxFetchesInFlight, hostAskMs: 100, maxFetchRttMs: 2_000 },
    { counters, effects },
  )
  const send = (peer: number, dueMs: number, sentMs = 0) =>
    fetches.send({ peerId: idOf(peer), streamPartId: partId, chain, claim: undefined, sentMs, dueMs }, ranges)
  return { counters, sent, lossy, fetches, send }
}

describe('Fetches', () => {
  it('asks for the ranges, counts that, and knows the answer by its number', () => {
    const { fetches, send, sent, counters } = script(2)
    const requestId = send(2, 100)
    const { publisherId, messageChainId } = chain
    const packet = { type: 'fetch', requestId, streamPartId: partId, publisherId, messageChainId, ranges }
    expect([sent, counters['fetch.sent']]).toEqual([[packet], 1])
    expect(fetches.answered(requestId, idOf(2), 50)).toMatchObject({
      streamPartId: partId,
      chain,
      rangeCount: 2,
    })
    expect(fetches.answered(requestId, idOf(2), 50)).toBeUndefined()
  })

  it('that is repeated without an answer may be lost, one that is sent once may not', () => {
    const { fetches, send, sent, lossy } = script(2)
    send(2, 100)
    fetches.once(idOf(2), chain, ranges, 0)
    expect([sent.length, lossy]).toEqual([2, sent.slice(0, 1)])
  })

  it('allows so many to one neighbour, until one ends', () => {
    const { fetches, send, sent } = script(2)
    const [first] = [send(2, 100), send(2, 100)]
    expect([send(2, 100), send(3, 100), sent.length]).toEqual([0, 3, 3])
    expect(fetches.answered(first, idOf(3), 50)).toBeUndefined()
    expect(fetches.answered(first, idOf(2), 50)).toMatchObject({ requestId: first })
    expect(send(2, 100)).not.toBe(0)
  })

  it('does not count those whose answers were lost, though nobody waits for them any more', () => {
    const { fetches, send } = script(2)
    const ids = [send(2, 100), send(2, 200)]
    expect(send(2, 300, 99)).toBe(0)
    expect(send(2, 300, 100)).not.toBe(0)
    expect(ids.map((id) => fetches.answered(id, idOf(2), 300) !== undefined)).toEqual([false, true])
  })

  it('does not count long what is asked for once', () => {
    const { fetches, sent } = script(1)
    const once = (nowMs: number): boolean => fetches.once(idOf(2), chain, ranges, nowMs)
    expect([once(0), once(99), once(100), sent.length]).toEqual([true, false, true, 2])
  })

  it('waits longer for a neighbour that answers late, also when nobody waits for that any more', () => {
    const { fetches, send, counters } = script(8)
    expect(fetches.timeoutMs(idOf(2), 100)).toBe(100)
    const ids = [1, 2, 3, 4].map(() => send(2, 100))
    for (const id of ids) fetches.timedOut(id, 100)
    expect([fetches.timeoutMs(idOf(2), 100), counters['fetch.timeouts']]).toEqual([100, 4])
    for (const id of ids) expect(fetches.answered(id, idOf(2), 250)).toBeUndefined()
    expect(fetches.timeoutMs(idOf(2), 100)).toBeGreaterThan(250)
    expect(fetches.timeoutMs(idOf(3), 100)).toBe(100)
  })

  it('waits for nobody longer than four times what the round trip takes, nor than three seconds', () => {
    const { fetches, send } = script(8)
    for (let i = 0; i < 8; i++) fetches.answered(send(2, 100), idOf(2), 10_000)
    expect([100, 1_000].map((byRttMs) => fetches.timeoutMs(idOf(2), byRttMs))).toEqual([400, 3_000])
  })

  it('asks a neighbour for less at a time once that did not answer in time, but once for all that was under way', () => {
    const { fetches, send } = script(16)
    const room = (sentMs: number): number => {
      const ids = Array.from({ length: 17 }, () => send(2, sentMs + 100, sentMs)).filter((id) => id !== 0)
      for (const id of ids) fetches.timedOut(id, sentMs + 100)
      return ids.length
    }
    expect([0, 200, 400, 600].map(room)).toEqual([16, 8, 4, 4])
    expect(send(3, 700, 600)).not.toBe(0)
  })

  it('asks for more at a time again when all was answered soon', () => {
    const { fetches, send } = script(6)
    fetches.timedOut(send(2, 100), 100)
    const room = () => Array.from({ length: 7 }, () => send(2, 1_000, 200)).filter((id) => id !== 0)
    const answered = [0, 1, 2, 3, 4, 5, 6].map(() => {
      const ids = room()
      for (const id of ids) fetches.answered(id, idOf(2), 250)
      return ids.length
    })
    expect(answered).toEqual([4, 4, 5, 6, 6, 6, 6])
    expect(fetches.timeoutMs(idOf(2), 100)).toBe(100)
  })

  it('forgets those to a neighbour whose link closed', () => {
    const { fetches, send } = script(1)
    const ids = [send(2, 100), send(3, 100)]
    fetches.linkClosed(idOf(2))
    expect([send(2, 100) !== 0, send(3, 100) !== 0]).toEqual([true, false])
    expect(ids.map((id, index) => fetches.answered(id, idOf(2 + index), 300) !== undefined)).toEqual([
      false,
      true,
    ])
  })
})
