import { describe, expect, it } from 'vitest'
import { Outbox, type Outgoing } from './outbox.ts'
import { QueueShares } from './queue-shares.ts'
import type { Delivery } from './to-mqtt.ts'

const limits = { maxInflight: 2, maxQueuedMessages: 3, maxQueuedBytes: 2_000, maxTotalQueuedBytes: 3_000 }
const newTotals = () => ({ queuedBytes: 0, droppedQos0: 0, droppedQos1: 0, expired: 0 })

function outgoing(text: string, qos: 0 | 1 | 2, expiresMs?: number): Outgoing {
  const delivery = { payload: Buffer.from(text), expiresMs } as unknown as Delivery
  return { delivery, form: { shown: '', hasPartition: false }, qos, retain: false, subscriptionId: undefined }
}

function open(totals = newTotals(), receiveMaximum = 10, shares = new QueueShares(limits, totals)) {
  const outbox = new Outbox(limits, 'a', shares)
  outbox.attach(receiveMaximum)
  const next = () => {
    const sending = outbox.next(0)
    if (sending !== undefined && 'releases' in sending) return sending.releases
    return sending && [sending.delivery.payload.toString(), sending.messageId, sending.dup]
  }
  return { outbox, next }
}

describe('an outbox', () => {
  it('sends in order, and waits for acknowledgements where as many are on their way as may be', () => {
    const { outbox, next } = open()
    for (const [text, qos] of [
      ['a', 1],
      ['b', 1],
      ['c', 1],
    ] as const)
      outbox.add(outgoing(text, qos))
    expect([next(), next(), next()]).toEqual([['a', 1, false], ['b', 2, false], undefined])
    expect(outbox.acknowledge(1)).toBe(true)
    expect(outbox.acknowledge(1)).toBe(false)
    expect(next()).toEqual(['c', 3, false])
  })

  it('takes no more on its way than the client allows', () => {
    const { outbox, next } = open(newTotals(), 1)
    for (const text of ['a', 'b']) outbox.add(outgoing(text, 1))
    expect([next(), next()]).toEqual([['a', 1, false], undefined])
  })

  it('sends again what was not acknowledged, with the same number, before the rest', () => {
    const { outbox, next } = open()
    for (const text of ['a', 'b', 'c']) outbox.add(outgoing(text, 1))
    next()
    next()
    outbox.acknowledge(1)
    outbox.detach()
    outbox.add(outgoing('for nobody', 0))
    outbox.attach(10)
    expect([next(), next(), next()]).toEqual([['b', 2, true], ['c', 3, false], undefined])
  })

  it('sends no more again at once than the client takes now', () => {
    const { outbox, next } = open()
    for (const text of ['a', 'b', 'c']) outbox.add(outgoing(text, 1))
    next()
    next()
    outbox.detach()
    outbox.attach(1)
    expect([next(), next()]).toEqual([['a', 1, true], undefined])
    outbox.acknowledge(1)
    expect([next(), next()]).toEqual([['b', 2, true], undefined])
    outbox.acknowledge(2)
    expect(next()).toEqual(['c', 3, false])
  })

  it('settles a message of QoS 2 in two steps, and repeats the second where it is not', () => {
    const { outbox, next } = open()
    outbox.add(outgoing('a', 2))
    outbox.add(outgoing('b', 1))
    next()
    next()
    expect([outbox.release(1), outbox.release(2), outbox.release(3)]).toEqual([true, false, false])
    outbox.detach()
    outbox.attach(10)
    expect([next(), next(), next()]).toEqual([1, ['b', 2, true], undefined])
    expect(outbox.acknowledge(1)).toBe(true)
    expect(outbox.inflight).toBe(1)
  })

  it('drops the oldest of QoS 0 when too many wait, then the oldest of QoS 1', () => {
    const totals = newTotals()
    const { outbox, next } = open(totals)
    for (const [text, qos] of [
      ['a', 1],
      ['b', 0],
      ['c', 0],
      ['d', 1],
      ['e', 1],
    ] as const)
      outbox.add(outgoing(text, qos))
    outbox.add(outgoing('f', 1))
    expect(totals).toMatchObject({ droppedQos0: 2, droppedQos1: 1 })
    expect(next()).toEqual(['d', 1, false])
  })

  it('does not look through all that waits for each that it drops', () => {
    let looks = 0
    const counted = (qos: 0 | 1): Outgoing => ({
      ...outgoing('x', qos),
      get qos() {
        looks++
        return qos
      },
    })
    const [maxQueuedMessages, added] = [1_000, 500]
    const many = { ...limits, maxQueuedMessages, maxQueuedBytes: 1e6, maxTotalQueuedBytes: 1e6 }
    const totals = newTotals()
    const outbox = new Outbox(many, 'a', new QueueShares(many, totals))
    outbox.attach(10)
    for (let i = 0; i < maxQueuedMessages; i++) outbox.add(counted(1))
    looks = 0
    for (let i = 0; i < added; i++) for (const qos of [1, 0, 1] as const) outbox.add(counted(qos))
    expect(totals).toMatchObject({ droppedQos0: added, droppedQos1: 2 * added })
    expect(looks).toBeLessThan(maxQueuedMessages + 3 * added * 10)
  })

  it('bounds bytes, its own and those of all', () => {
    const totals = newTotals()
    const shares = new QueueShares(limits, totals)
    const [one, other] = [open(totals, 10, shares), open(totals, 10, shares)]
    one.outbox.add(outgoing('x'.repeat(1_500), 1))
    one.outbox.add(outgoing('y'.repeat(1_500), 1))
    expect(totals.droppedQos1).toBe(1)
    other.outbox.detach()
    other.outbox.add(outgoing('z'.repeat(1_500), 1))
    expect(totals.droppedQos1).toBe(2)
    expect(other.outbox.queued).toBe(0)
    one.outbox.clear()
    expect(totals.queuedBytes).toBe(0)
  })

  it('has room for the next message of a client that is there, whatever waits for others', () => {
    const totals = newTotals()
    totals.queuedBytes = 3_000
    const { outbox, next } = open(totals)
    outbox.add(outgoing('a', 1))
    outbox.add(outgoing('b', 1))
    expect(totals.droppedQos1).toBe(1)
    expect(next()).toEqual(['b', 1, false])
  })

  it('counts what the client did not acknowledge, and sends no more than half of the bytes before it does', () => {
    const totals = newTotals()
    const { outbox, next } = open(totals)
    for (const text of ['a', 'b']) outbox.add(outgoing(text.repeat(700), 2))
    expect(next()).toEqual(['a'.repeat(700), 1, false])
    expect(next()).toBeUndefined()
    expect(totals.queuedBytes).toBe(1_800)
    outbox.release(1)
    expect(totals.queuedBytes).toBe(900)
    outbox.acknowledge(1)
    expect(next()).toEqual(['b'.repeat(700), 2, false])
    outbox.acknowledge(2)
    expect(totals.queuedBytes).toBe(0)
    outbox.add(outgoing('c'.repeat(700), 1))
    next()
    outbox.clear()
    expect(totals.queuedBytes).toBe(0)
  })

  it('leaves out what has expired', () => {
    const totals = newTotals()
    const { outbox, next } = open(totals)
    outbox.add(outgoing('old', 1, 0))
    outbox.add(outgoing('new', 1, 1))
    expect(next()).toEqual(['new', 1, false])
    expect(totals.expired).toBe(1)
  })
})
