import {
  decodeBatch,
  packetBytes,
  PacketType,
  type MessageBatch,
  type OnVerdict,
  type VerificationPool,
} from '@runnel/protocol'
import { VirtualClock } from '@runnel/transport'
import { describe, expect, it } from 'vitest'
import { newCounters } from '../core/counter-names.ts'
import type { NodeEvent } from '../core/events.ts'
import { networkLimits } from '../limits.ts'
import { identityOf, TestPublisher } from '../network.testkit.ts'
import { VerificationQueue } from './verification-queue.ts'

const peerId = identityOf('peer').nodeId
const clock = new VirtualClock()
const publisher = new TestPublisher('publisher', clock)

function dataEvent(): NodeEvent & { type: 'data' } {
  const { bytes } = publisher.next('content')
  return { type: 'data', peerId, batch: decodeBatch(bytes), packet: packetBytes(PacketType.data, bytes) }
}
const copyOf = (event: NodeEvent & { type: 'data' }): NodeEvent & { type: 'data' } => ({
  ...event,
  peerId: identityOf('another').nodeId,
  batch: decodeBatch(event.batch.bytes),
})
const control: NodeEvent = { type: 'linkClosed', peerId }

/** A queue whose thread is behind: verifying takes it 10 ms, and nothing else takes any time. */
function setUp({ limits = {}, hasRoom = true, isKnown = true } = {}) {
  let nowMs = 0
  const asked: { batch: unknown; answer: OnVerdict }[] = []
  const pool: VerificationPool = {
    workersLost: 0,
    verify(batch, _, answer) {
      if (hasRoom) asked.push({ batch, answer })
      return hasRoom
    },
    stop: () => undefined,
  }
  const dispatched: NodeEvent[] = []
  const verifiedHere: MessageBatch[] = []
  const counters = newCounters()
  const signerId = publisher.identity.nodeId
  const queue: VerificationQueue = new VerificationQueue(
    { ...networkLimits, ...limits },
    {
      ...{ pool, counters, clock: { monotonicMs: () => nowMs } },
      signerOf: () => (isKnown ? signerId : undefined),
      verify: (batch) => {
        verifiedHere.push(batch)
        nowMs += 10
        return true
      },
      dispatch(event) {
        dispatched.push(event)
        if (event.type === 'data' || event.type === 'urgent') queue.verify(event.batch, signerId)
      },
    },
  )
  queue.take(dataEvent())
  dispatched.length = verifiedHere.length = 0
  const pass = (ms: number): void => void (nowMs += ms)
  return { queue, asked, dispatched, verifiedHere, counters, signerId, pass }
}

describe('a queue of what waits for verdicts', () => {
  it('is not there while the thread keeps up', () => {
    const { queue, asked, dispatched } = setUp({ limits: { verificationBurstMs: 1_000 } })
    const events = [dataEvent(), control, dataEvent()]
    for (const event of events) queue.take(event)
    expect(dispatched).toEqual(events)
    expect(asked).toEqual([])
  })

  it('keeps the order in which events came, whatever the order of verdicts', () => {
    const { queue, asked, dispatched, verifiedHere, counters } = setUp()
    const events = [dataEvent(), control, dataEvent(), dataEvent()]
    for (const event of events) queue.take(event)
    expect(queue.isWaiting).toBe(true)
    asked[2]?.answer(true)
    asked[1]?.answer(true)
    expect(dispatched).toEqual([])
    asked[0]?.answer(true)
    expect(dispatched).toEqual(events)
    expect(queue.isWaiting).toBe(false)
    expect(verifiedHere).toEqual([])
    expect(counters['data.verifiedAside']).toBe(3)
  })

  it('gives the core the verdict, for the signer that it was about', () => {
    const { queue, asked, signerId, verifiedHere } = setUp()
    const event = dataEvent()
    queue.take(event)
    asked[0]?.answer(false)
    expect(queue.verify(event.batch, signerId)).toBe(false)
    expect(verifiedHere).toEqual([])
    expect(queue.verify(event.batch, peerId)).toBe(true)
    expect(verifiedHere).toEqual([event.batch])
  })

  it('has urgent batches verified elsewhere as well, which have less time left afterwards', () => {
    const { queue, asked, dispatched, verifiedHere, pass } = setUp()
    const { batch } = dataEvent()
    queue.take({ type: 'urgent', peerId, remainingMs: 500, batch })
    expect(asked).toHaveLength(1)
    pass(30.5)
    asked[0]?.answer(true)
    expect(dispatched).toEqual([{ type: 'urgent', peerId, remainingMs: 469, batch }])
    expect(verifiedHere).toEqual([])
  })

  it('has a batch that several neighbours bring verified once', () => {
    const { queue, asked, dispatched } = setUp()
    const event = dataEvent()
    const events = [event, copyOf(event), copyOf(event)]
    for (const one of events) queue.take(one)
    expect(asked).toHaveLength(1)
    asked[0]?.answer(true)
    expect(dispatched).toEqual(events)
  })

  it('leaves to this thread what the workers did not finish, what they do not take, and what nobody would ask for', () => {
    const lost = setUp()
    lost.queue.take(dataEvent())
    lost.asked[0]?.answer(undefined)
    expect(lost.verifiedHere).toHaveLength(1)

    const full = setUp({ hasRoom: false })
    full.queue.take(dataEvent())
    expect([full.verifiedHere.length, full.dispatched.length]).toEqual([1, 1])

    const unknown = setUp({ isKnown: false })
    unknown.queue.take(dataEvent())
    expect([unknown.asked.length, unknown.dispatched.length]).toEqual([0, 1])
  })

  it.each([
    ['events', { maxUnverifiedEvents: 3 }],
    ['bytes', { maxUnverifiedBytes: 3.5 * dataEvent().packet.length }],
  ])('holds no more %s than its limit: this thread verifies the oldest', (_, limits) => {
    const { queue, asked, dispatched, verifiedHere } = setUp({ limits })
    const events = Array.from({ length: 5 }, dataEvent)
    for (const event of events) queue.take(event, event.packet.length)
    expect(dispatched).toEqual(events.slice(0, 2))
    expect(verifiedHere).toHaveLength(2)
    for (const { answer } of asked) answer(true)
    expect(dispatched).toEqual(events)
  })

  it('counts the bytes of all packets, not of batches alone', () => {
    const { queue, dispatched } = setUp({ limits: { maxUnverifiedBytes: 3_000 } })
    const events = [dataEvent(), control, control, control]
    for (const event of events) queue.take(event, 1_000)
    expect(dispatched).toEqual(events)
  })

  it('is empty once it is cleared, and late verdicts do nothing', () => {
    const { queue, asked, dispatched } = setUp()
    queue.take(dataEvent())
    queue.clear()
    asked[0]?.answer(true)
    expect([queue.isWaiting, dispatched.length]).toEqual([false, 0])
  })
})
