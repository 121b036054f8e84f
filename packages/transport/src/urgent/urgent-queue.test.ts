import type { UrgentMessage } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { urgentLimits } from './limits.ts'
import { UrgentQueue } from './urgent-queue.ts'

let queue: UrgentQueue
let dropped: string[]

function make(limits: Partial<typeof urgentLimits> = {}): void {
  dropped = []
  const limit = { ...urgentLimits, ...limits }
  queue = new UrgentQueue(limit, { dropped: (why, { group }) => dropped.push(`${why} ${group}`) })
}

/** In a chain `c` of publisher `p`, unless it says otherwise. */
const push = (fields: Partial<UrgentMessage>, bytes = 100, nowMs = 0): void =>
  queue.push(
    {
      ...{
        batchBytes: new Uint8Array(bytes),
        headerBytes: 0,
        deadlineMs: 1000,
        publisher: 'p',
        chain: fields.publisher ?? 'c',
      },
      ...{ priority: 10, group: 0, object: 0, order: 'oldest' },
      ...fields,
    },
    nowMs,
  )

/** All that waits, in the order in which it goes. */
function drain(nowMs = 0): string[] {
  const order: string[] = []
  for (let next = queue.first(nowMs); next !== undefined; next = queue.first(nowMs)) {
    order.push(`${next.publisher}${next.priority} ${next.group}.${next.object}`)
    queue.sent(next, next.batchBytes.length, nowMs)
    queue.done(next)
  }
  expect([queue.size, queue.bytes]).toEqual([0, 0])
  return order
}

describe('UrgentQueue', () => {
  it('sends lower priorities first, and of a chain older groups first', () => {
    make()
    push({ group: 2 })
    push({ group: 1, object: 1 })
    push({ group: 1, object: 0 })
    push({ group: 3, priority: 1 })
    expect(drain()).toEqual(['p1 3.0', 'p10 1.0', 'p10 1.1', 'p10 2.0'])
  })

  it('sends newer groups first where the publisher asks for it, each from its first object on', () => {
    make()
    for (const group of [1, 3, 2]) for (const object of [1, 0]) push({ group, object, order: 'newest' })
    expect(drain()).toEqual(['p10 3.0', 'p10 3.1', 'p10 2.0', 'p10 2.1', 'p10 1.0', 'p10 1.1'])
  })

  it('holds a message once that is pushed again before it has gone', () => {
    make()
    const message = {
      ...{ batchBytes: new Uint8Array(100), headerBytes: 0, deadlineMs: 1000 },
      publisher: 'p',
    }
    const pulled = { ...message, chain: 'c', priority: 10, group: 0, object: 0, order: 'oldest' } as const
    queue.push(pulled, 0)
    queue.push(pulled, 0)
    expect([queue.size, queue.bytes]).toEqual([1, 100])
    expect(drain()).toEqual(['p10 0.0'])
    queue.push(pulled, 0)
    expect(drain()).toEqual(['p10 0.0'])
  })

  it('lets object 0 of a group take the place of older groups, of its chain alone', () => {
    make()
    push({ group: 1, object: 0, order: 'newest-only' })
    push({ group: 1, object: 1, order: 'newest-only' })
    push({ group: 0, publisher: 'q' })
    push({ group: 2, object: 1, order: 'newest-only' })
    push({ group: 2, object: 0, order: 'newest-only' })
    push({ group: 1, object: 2, order: 'newest-only' })
    expect(dropped).toEqual(['replaced 1', 'replaced 1', 'replaced 1'])
    expect(drain().sort()).toEqual(['p10 2.0', 'p10 2.1', 'q10 0.0'])
  })

  it('drops what is too late, when it comes and while it waits', () => {
    make()
    push({ group: 1, deadlineMs: 0 })
    push({ group: 2, deadlineMs: 10 })
    push({ group: 3, deadlineMs: 11 })
    expect(drain(10)).toEqual(['p10 3.0'])
    expect(dropped).toEqual(['late 1', 'late 2'])
  })

  it('shares a priority between publishers by bytes, whatever one of them offers', () => {
    make()
    for (let group = 0; group < 6; group++) push({ group, priority: 0 })
    for (let group = 0; group < 2; group++) push({ group, priority: 0, publisher: 'q' }, 200)
    expect(drain()).toEqual(['p0 0.0', 'q0 0.0', 'p0 1.0', 'p0 2.0', 'q0 1.0', 'p0 3.0', 'p0 4.0', 'p0 5.0'])
  })

  it('sheds an upper layer that a lower one of its group overtakes, after a while', () => {
    make({ shedAfterMs: 50 })
    push({ object: 1, priority: 12 })
    push({ object: 3, priority: 12 }, 100, 20)
    push({ object: 2, priority: 11 }, 100, 40)
    push({ object: 4, priority: 10 }, 100, 60)
    // Of another group, which is nothing to it.
    push({ object: 1, priority: 12, group: 1 })
    expect(drain(60)).toEqual(['p10 0.4', 'p11 0.2', 'p12 0.3', 'p12 1.1'])
    expect(dropped).toEqual(['shed 0'])
  })

  it('sheds what builds on what it dropped, until the next object of that layer or below', () => {
    make({ shedAfterMs: 0 })
    push({ object: 1, priority: 11 })
    push({ object: 2, priority: 12 })
    push({ object: 3, priority: 10, deadlineMs: 5_000 })
    const lower = queue.first(0)
    if (lower !== undefined) queue.sent(lower, 100, 0)
    // Both were overtaken.
    expect(dropped).toEqual(['shed 0', 'shed 0'])
    push({ object: 4, priority: 12 })
    push({ object: 5, priority: 11, deadlineMs: 5_000 })
    push({ object: 6, priority: 12, deadlineMs: 5_000 })
    expect(dropped).toEqual(['shed 0', 'shed 0', 'shed 0'])
    push({ object: 7, priority: 11 })
    push({ object: 8, priority: 12, deadlineMs: 5_000 })
    push({ object: 9, priority: 11, deadlineMs: 5_000 })
    push({ object: 10, priority: 12, deadlineMs: 5_000 })
    // What was too late takes with it what builds on it; object 6 is overtaken.
    expect(drain(2_000)).toEqual(['p10 0.3', 'p11 0.5', 'p11 0.9', 'p12 0.10'])
    expect(dropped.slice(3)).toEqual(['late 0', 'shed 0', 'shed 0'])
  })

  it('keeps a publisher to its share, and drops of it what would go last', () => {
    make({ maxUrgentQueueBytesOfPublisher: 250 })
    push({ group: 9, publisher: 'q' })
    push({ group: 1 })
    push({ group: 3 })
    push({ group: 2 })
    expect(dropped).toEqual(['refused 3'])
    push({ group: 4, priority: 0 })
    expect(dropped).toEqual(['refused 3', 'refused 2'])
    expect(drain()).toEqual(['p0 4.0', 'q10 9.0', 'p10 1.0'])
  })

  it('takes room from whoever has most when it is full', () => {
    make({ maxUrgentQueueBytes: 400 })
    for (let group = 0; group < 4; group++) push({ group })
    push({ group: 7, publisher: 'q' })
    expect(dropped).toEqual(['refused 3'])
    make({ maxUrgentQueueBatches: 2 })
    for (let group = 0; group < 3; group++) push({ group })
    expect(dropped).toEqual(['refused 2'])
  })

  it('takes the place of one of many small messages rather than of a large one when there are too many', () => {
    make({ maxUrgentQueueBatches: 3 })
    push({ group: 7, publisher: 'q' }, 1_000)
    for (let group = 0; group < 4; group++) push({ group }, 10)
    expect(dropped).toEqual(['refused 2', 'refused 3'])
  })

  it('remembers what it dropped of so many chains while it does not become empty', () => {
    make({ maxUrgentQueueBatches: 3 })
    push({ chain: 'waits', priority: 99, deadlineMs: 5_000 })
    const chains = ['a', 'b', 'c', 'd']
    for (const [nowMs, chain] of chains.entries()) {
      push({ chain, object: 0, priority: 11, deadlineMs: nowMs + 1 }, 100, nowMs)
      queue.first(nowMs + 1)
    }
    dropped = []
    // Each builds on what was too late.
    for (const chain of ['b', 'c', 'd', 'a']) push({ chain, object: 1, priority: 12 }, 100, 10)
    expect([dropped, queue.size]).toEqual([['shed 0', 'shed 0', 'shed 0'], 2])
  })

  it('counts what was sent of so many publishers while it does not become empty', () => {
    make({ maxUrgentQueueBatches: 4 })
    push({ publisher: 'w', priority: 99 })
    const send = (publisher: string, bytes: number): void => {
      push({ publisher }, bytes)
      const first = queue.first(0)
      if (first === undefined) return
      queue.sent(first, bytes, 0)
      queue.done(first)
    }
    for (const publisher of ['p', 'p', 'p', 'q', 'q', 'r', 's', 't', 'q']) send(publisher, 100)
    // Nothing is known any more of p, which was sent as much as q.
    for (const publisher of ['q', 's', 'p']) push({ publisher })
    expect(drain()).toEqual(['p10 0.0', 's10 0.0', 'q10 0.0', 'w99 0.0'])
  })
})
