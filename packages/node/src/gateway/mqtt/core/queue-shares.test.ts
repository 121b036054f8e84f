import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Outbox, type Outgoing } from './outbox.ts'
import { QueueShares } from './queue-shares.ts'
import type { Delivery } from './to-mqtt.ts'

const limits = {
  maxInflight: 2,
  maxQueuedMessages: 1_000,
  maxQueuedBytes: 100_000,
  maxTotalQueuedBytes: 10_000,
}

/** One that counts 1,000 bytes. */
const message: Outgoing = {
  ...{ delivery: { payload: Buffer.alloc(800) } as unknown as Delivery, qos: 1, retain: false },
  ...{ form: { shown: '', hasPartition: false }, subscriptionId: undefined },
}

function open() {
  const totals = { queuedBytes: 0, droppedQos0: 0, droppedQos1: 0, expired: 0 }
  const shares = new QueueShares(limits, totals)
  return { totals, newOutbox: (account: string) => new Outbox(limits, account, shares) }
}

describe('the bytes that wait for clients', () => {
  it('are at everybody’s disposal while there is room, and then at the cost of the account that has most', () => {
    const { totals, newOutbox } = open()
    const [greedy, other, modest] = [newOutbox('a'), newOutbox('a'), newOutbox('b')]
    for (let i = 0; i < 5; i++) for (const outbox of [greedy, other]) outbox.add(message)
    expect([greedy.queued, other.queued]).toEqual([5, 5])
    for (let i = 0; i < 4; i++) modest.add(message)
    expect([greedy.queued, other.queued, modest.queued]).toEqual([3, 3, 4])
    expect(totals).toMatchObject({ droppedQos1: 4, queuedBytes: 10_000 })
  })

  it('leave a client that is there its next message, and what it has not acknowledged', () => {
    const { newOutbox } = open()
    const [there, away] = [newOutbox('a'), newOutbox('b')]
    there.attach(2)
    for (let i = 0; i < 3; i++) there.add(message)
    for (let i = 0; i < 2; i++) there.next(0)
    for (let i = 0; i < 20; i++) away.add(message)
    expect([there.inflight, there.queued, away.queued]).toEqual([2, 1, 7])
  })

  it('are never more than the limit, and each of n accounts has room for an n-th of them', () => {
    const steps = fc.array(fc.record({ client: fc.nat(7), act: fc.constantFrom('add', 'clear') }), {
      maxLength: 300,
    })
    fc.assert(
      fc.property(steps, (taken) => {
        const { totals, newOutbox } = open()
        const clients = Array.from({ length: 8 }, (_, i) => newOutbox(`${i % 4}`))
        for (const { client, act } of taken) {
          const outbox = clients[client]
          const before = totals.droppedQos1
          const held = clients.reduce((sum, { bytes }, i) => sum + (i % 4 === client % 4 ? bytes : 0), 0)
          const own = outbox?.bytes ?? 0
          if (act === 'clear') outbox?.clear()
          else outbox?.add(message)
          expect(totals.queuedBytes).toBe(clients.reduce((sum, { bytes }) => sum + bytes, 0))
          expect(totals.queuedBytes).toBeLessThanOrEqual(limits.maxTotalQueuedBytes)
          if (act === 'add' && held + 1_000 <= limits.maxTotalQueuedBytes / 4)
            expect(outbox?.bytes).toBe(own + 1_000)
          expect(totals.droppedQos1 - before).toBeLessThanOrEqual(1)
        }
      }),
    )
  })
})
