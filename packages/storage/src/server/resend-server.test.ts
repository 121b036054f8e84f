import { encodeDelegation, type AwaitStored, type NodeId, type Resend } from '@runnel/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { storageError } from '../errors.ts'
import { Ingest } from '../ingest.ts'
import { delegationFrom, identityOf, TestDelegations } from '../delegations.testkit.ts'
import { KnownDelegations } from '../known-delegations.ts'
import { storageLimits } from '../storage-limits.ts'
import { openTestStore, TestClock, TestLinks, turns, until, type TestStore } from '../storage.testkit.ts'
import { at, batchOf, byRef, chainOf, keyedBatch, nodeId, partOf } from '../store/batches.testkit.ts'
import { Answers } from './answers.ts'
import { createLinkRoom } from './link-room.ts'
import { LinkSignals } from './link-signals.ts'
import { ResendServer } from './resend-server.ts'

const chain = chainOf()
const [asker, other] = [nodeId(7), nodeId(8)]
const limits = {
  ...storageLimits,
  pageBytes: 500,
  maxResendsPerPeer: 2,
  maxAwaitedPerPeer: 1,
  maxWaitingAnswersPerPeer: 5,
}
const maxResends = 3

const request = (over: Partial<Resend> = {}): Resend => ({
  ...{ type: 'resend', requestId: 1, streamPartId: partOf(0), publisherId: undefined },
  ...{ messageChainId: undefined, windowBytes: 1e6, token: undefined },
  selection: { kind: 'range', from: at(0), to: at(1e6) },
  ...over,
})
const awaiting = (over: Partial<AwaitStored> = {}): AwaitStored => ({
  ...{ type: 'awaitStored', requestId: 1, streamPartId: partOf(0), ...chain, ...at(1), token: undefined },
  ...over,
})

describe('ResendServer', () => {
  let kept: TestStore
  let links: TestLinks
  let clock: TestClock
  let signals: LinkSignals
  let server: ResendServer
  let ingest: Ingest
  let denied: Set<NodeId>
  let oldestMs: number
  let notBeforeMs: number
  let errors: unknown[]
  let node: TestDelegations
  /** How many batches the store was asked about. */
  let lookUps: number[]

  beforeEach(async () => {
    kept = await openTestStore()
    links = new TestLinks()
    clock = new TestClock()
    denied = new Set()
    oldestMs = 0
    notBeforeMs = 0
    errors = []
    node = new TestDelegations()
    lookUps = []
    const { store } = kept
    const events = { dropped() {}, slow() {}, fault() {}, failed() {}, recovered() {} }
    const delegations = new KnownDelegations(node)
    const delegationsOf = store.delegationsOf.bind(store)
    store.delegationsOf = (batches) => {
      lookUps.push(batches.length)
      return delegationsOf(batches)
    }
    ingest = new Ingest(
      { maxQueuedBatches: 100, maxQueuedBytes: 1e6, limits },
      { store, clock, delegations, events },
    )
    const admit = async ({ requesterId }: { requesterId: NodeId }) => {
      if (denied.has(requesterId)) throw storageError('NOT_PERMITTED')
    }
    const room = createLinkRoom(
      { lowMarkBytes: limits.linkLowMarkBytes, pollMs: 5 },
      { network: links, clock },
    )
    signals = new LinkSignals()
    server = new ResendServer(
      { maxResends, limits },
      {
        ...{ network: links, room, store, ingest, clock, delegations },
        answers: new Answers(limits, { network: links, room }),
        links: signals,
        access: {
          requireSubscriber: (_, who) => admit(who),
          requireStillSubscriber: (_, who) => admit(who),
          requirePublisherOrSubscriber: (_, __, who) => admit(who),
        },
        isKept: (streamPartId) => streamPartId !== partOf(9),
        isRefused: (streamPartId) => streamPartId === partOf(9),
        oldestMs: async () => oldestMs,
        notBeforeMs: async () => notBeforeMs,
        onError: (error) => errors.push(error),
      },
    )
    await store.append(Array.from({ length: 20 }, (_, index) => batchOf(chain, [at(index + 1)])))
  })
  afterEach(async () => {
    await server.stop()
    await kept.remove()
    expect(errors).toEqual([])
    expect([...links.held.values()].every((count) => count === 0)).toBe(true)
  })

  const ended = (count = 1) => until(() => links.packets('resendEnd').length === count)
  const times = () => links.packets('resendData').map(({ batch }) => batch.messages[0]?.timestamp)

  it('sends a range, page by page and in order, between a beginning and an end', async () => {
    server.handle(asker, request({ selection: { kind: 'range', from: at(3), to: at(18) } }))
    await ended()
    expect(links.sent[0]?.packet).toEqual({
      type: 'resendStart',
      requestId: 1,
      from: at(3),
      to: at(18),
      count: 0,
    })
    expect(times()).toEqual(Array.from({ length: 16 }, (_, index) => index + 3))
    expect(links.sent.at(-1)?.packet).toEqual({ type: 'resendEnd', requestId: 1, code: '', text: '' })
    expect(server.status()).toMatchObject({ active: 0, served: 1, sentBatches: 16 })
  })

  it('sends the last ones, with what had arrived and nothing that comes later', async () => {
    ingest.push(batchOf(chain, [at(21)]))
    links.onSent = () => {
      links.onSent = () => {}
      ingest.push(batchOf(chain, [at(22)]))
    }
    server.handle(asker, request({ selection: { kind: 'last', count: 3 } }))
    await ended()
    expect(links.packets('resendStart')).toMatchObject([{ from: at(19), to: at(21), count: 3 }])
    expect(times()).toEqual([19, 20, 21])
  })

  it('sends nothing where there is nothing, and nothing older than is kept', async () => {
    server.handle(asker, request({ streamPartId: partOf(1), selection: { kind: 'last', count: 3 } }))
    await ended()
    oldestMs = 15
    server.handle(asker, request({ requestId: 2, selection: { kind: 'last', count: 100 } }))
    server.handle(asker, request({ requestId: 3, selection: { kind: 'range', from: at(1), to: at(9) } }))
    await ended(3)
    expect(times()).toEqual([15, 16, 17, 18, 19, 20])
    expect(links.packets('resendStart').find(({ requestId }) => requestId === 2)).toMatchObject({
      from: at(15),
      to: at(20),
    })
    expect(links.packets('resendEnd').map(({ code }) => code)).toEqual(['', '', ''])
  })

  it('sends last values however old, but none of an earlier stream of the same id', async () => {
    const values = [1, 2, 3].map((key) => keyedBatch(chain, [key], [at(100 + key)]))
    await kept.store.append(values)
    ;[oldestMs, notBeforeMs] = [1_000, 102]
    server.handle(asker, { ...awaiting(), type: 'askTable', tag: undefined, windowBytes: 1e6 })
    await ended()
    expect(times()?.toSorted()).toEqual([102, 103])
  })

  it('makes the node know the delegation of a batch before it is sent, and reads those of a page at once', async () => {
    const user = identityOf('user')
    const [first, second] = ['a', 'b'].map((name) => delegationFrom(user, identityOf(name))) as [
      ReturnType<typeof delegationFrom>,
      ReturnType<typeof delegationFrom>,
    ]
    const bytes = [first, second].map(encodeDelegation)
    const delegated = Array.from({ length: 6 }, (_, i) => batchOf(chain, [at(100 + i)], 20, 0, bytes[i % 2]))
    await kept.store.append(delegated, byRef(...bytes))
    const unknown: number[] = []
    links.onSent = () => {
      const packet = links.sent.at(-1)?.packet
      if (packet?.type !== 'resendData') return
      const { delegationRef: ref, messages } = packet.batch
      if (ref !== undefined && node.get(ref) === undefined) unknown.push(messages[0]?.timestamp ?? 0)
      // The node forgets them all the time.
      if (messages[0]?.timestamp === 104) node.known.clear()
    }
    server.handle(asker, request({ selection: { kind: 'range', from: at(20), to: at(200) } }))
    await ended()
    expect(times()).toEqual([20, 100, 101, 102, 103, 104, 105])
    expect(unknown).toEqual([])
    expect(lookUps.length).toBeLessThan(delegated.length)
    lookUps = []
    node.known.clear()
    for (const delegation of [first, second]) node.add(delegation)
    links.onSent = () => {}
    server.handle(asker, request({ selection: { kind: 'range', from: at(100), to: at(200) } }))
    await ended(2)
    expect(lookUps).toEqual([])
  })

  it('leaves out what was deleted with its delegation after its page was read', async () => {
    const bytes = encodeDelegation(delegationFrom(identityOf('user'), identityOf('delegate')))
    const delegated = [100, 101].map((time) => batchOf(chain, [at(time)], limits.pageBytes, 0, bytes))
    await kept.store.append([...delegated, batchOf(chain, [at(10_000_000)])], byRef(bytes))
    const selection = { kind: 'range', from: at(100), to: at(20_000_000) } as const
    server.handle(asker, request({ selection, windowBytes: 1 }))
    await until(() => times().length === 1)
    // The next page, and no delegations of it.
    await kept.store.read({ streamPartId: partOf(0), ...selection }, { maxBytes: 1 })
    await kept.store.prune(partOf(0), { olderThanMs: 1_000_000 })
    node.known.clear()
    server.handle(asker, { type: 'resendMore', requestId: 1, bytes: 1e6 })
    await ended()
    expect(times()).toEqual([100, 10_000_000])
    expect(server.status()).toMatchObject({ sentBatches: 2 })
  })

  it('ends what it sends to one who may no longer have it', async () => {
    const bytes = batchOf(chain, [at(1)]).bytes.length
    server.handle(asker, request({ windowBytes: bytes }))
    await until(() => times().length === 1)
    denied.add(asker)
    clock.pass(limits.recheckMs)
    server.handle(asker, { type: 'resendMore', requestId: 1, bytes: 10 * bytes })
    await ended()
    expect(times()).toHaveLength(1)
    expect(links.packets('resendEnd')).toMatchObject([{ code: 'NOT_PERMITTED' }])
  })

  it('says at once that it does not keep what it was asked to', async () => {
    server.handle(asker, awaiting({ streamPartId: partOf(9) }))
    await until(() => links.packets('stored').length === 1)
    expect(links.packets('stored')).toMatchObject([{ code: 'NOT_ACCEPTED' }])
  })

  it('sends no more than the window and one batch, and goes on when allowed', async () => {
    const bytes = batchOf(chain, [at(1)]).bytes.length
    server.handle(asker, request({ windowBytes: 3 * bytes - 1 }))
    await until(() => times().length === 3)
    await turns(20)
    expect(times()).toHaveLength(3)
    server.handle(asker, { type: 'resendMore', requestId: 1, bytes: 2 * bytes })
    await until(() => times().length === 5)
    await turns(20)
    expect(times()).toHaveLength(5)
    server.handle(asker, { type: 'resendMore', requestId: 1, bytes: 2 ** 32 - 1 })
    await ended()
    expect(times()).toHaveLength(20)
  })

  it('ends what its asker lets rest', async () => {
    server.handle(asker, request({ windowBytes: 1 }))
    await until(() => times().length === 1)
    await turns()
    clock.pass(limits.idleMs)
    await ended()
    expect(links.packets('resendEnd')).toMatchObject([{ code: 'IDLE' }])
    expect(server.status()).toMatchObject({ active: 0, failed: 1 })
  })

  it('waits while much is queued on the link', async () => {
    links.onSent = () => (links.queued = limits.linkLowMarkBytes + 1)
    server.handle(asker, request())
    await until(() => times().length > 0)
    await turns(20)
    const sent = times().length
    expect(sent).toBeLessThan(20)
    clock.pass(1000)
    await turns(20)
    expect(times()).toHaveLength(sent)
    links.onSent = () => {}
    links.drain()
    await ended()
    expect(times()).toHaveLength(20)
  })

  describe('on a full link', () => {
    const fill = () => {
      links.queued = limits.linkLowMarkBytes + 1
      links.isFull = true
    }
    beforeEach(() => {
      links.onSent = () => times().length === 20 && fill()
    })

    it('says that all was sent when there is room', async () => {
      server.handle(asker, request())
      await until(() => times().length === 20)
      await turns(20)
      expect(server.status().active).toBe(1)
      links.drain()
      await ended()
      expect(links.packets('resendEnd')).toMatchObject([{ code: '' }])
    })

    it('says why it ends when there is room', async () => {
      server.handle(asker, request({ windowBytes: 1 }))
      await until(() => times().length === 1)
      fill()
      denied.add(asker)
      clock.pass(limits.recheckMs)
      server.handle(asker, { type: 'resendMore', requestId: 1, bytes: 1e6 })
      await until(() => server.status().failed === 1)
      links.drain()
      await ended()
      expect(links.packets('resendEnd')).toMatchObject([{ code: 'NOT_PERMITTED' }])
    })

    it('says that a message is stored when there is room', async () => {
      fill()
      server.handle(asker, awaiting())
      await turns(20)
      links.drain()
      await until(() => links.packets('stored').length === 1)
      expect(links.packets('stored')).toMatchObject([{ requestId: 1, code: '' }])
    })

    it('says when there is room that it refuses, of so many requests at once', async () => {
      fill()
      for (let requestId = 1; requestId <= 10; requestId++) server.handle(asker, request({ requestId }))
      for (let requestId = 11; requestId <= 13; requestId++) server.handle(asker, awaiting({ requestId }))
      await turns(20)
      const { maxWaitingAnswersPerPeer: max } = limits
      expect(links.held.get(asker)).toBe(limits.maxResendsPerPeer + limits.maxAwaitedPerPeer + max)
      links.onSent = () => {}
      links.drain()
      await until(() => server.status().active === 0)
      const refused = [...links.packets('resendEnd'), ...links.packets('stored')]
        .filter(({ code }) => code === 'TOO_MANY_REQUESTS')
        .map(({ requestId }) => requestId)
      expect(refused.toSorted((a, b) => a - b)).toEqual([3, 4, 5, 6, 7])
    })

    it('keeps nothing of what it refuses when the link closes', async () => {
      fill()
      for (let requestId = 1; requestId <= 5; requestId++) server.handle(asker, request({ requestId }))
      await turns(20)
      links.isOpen = false
      links.queued = 0
      signals.closed(asker)
      await until(() => links.held.get(asker) === 0)
      expect(links.sent).toEqual([])
    })

    it.each([
      ['the link closes', () => signals.closed(asker)],
      ['it is cancelled', () => server.handle(asker, { type: 'resendCancel', requestId: 1 })],
      ['it is stopped', () => void server.stop()],
    ])('waits no longer when %s', async (_, end) => {
      server.handle(asker, request())
      await until(() => times().length === 20)
      await turns(20)
      end()
      await until(() => server.status().active === 0)
      expect(links.packets('resendEnd')).toEqual([])
    })
  })

  it('stops when told to, and when the link closes, with nothing kept', async () => {
    server.handle(asker, request({ windowBytes: 1 }))
    server.handle(other, request({ windowBytes: 1 }))
    await until(() => times().length === 2)
    server.handle(asker, { type: 'resendCancel', requestId: 1 })
    links.isOpen = false
    signals.closed(other)
    await until(() => server.status().active === 0)
    expect(links.packets('resendEnd')).toEqual([])
    expect(server.status()).toMatchObject({ cancelled: 1, served: 0 })
    expect(links.held.get(other)).toBe(0)
  })

  it('serves so many of one peer and so many in all, and refuses more', async () => {
    for (const requestId of [1, 2, 3]) server.handle(asker, request({ requestId, windowBytes: 1 }))
    for (const requestId of [1, 2]) server.handle(other, request({ requestId, windowBytes: 1 }))
    await until(() => times().length === 3)
    expect(links.packets('resendEnd')).toMatchObject([
      { requestId: 3, code: 'TOO_MANY_REQUESTS' },
      { requestId: 2, code: 'TOO_MANY_REQUESTS' },
    ])
    expect(server.status()).toMatchObject({ active: 3, refused: 2 })
  })

  it('says when it does not keep the stream part, unless it has something of it', async () => {
    server.handle(asker, request({ streamPartId: partOf(9) }))
    await ended()
    await kept.store.append([batchOf(chainOf('chain', undefined, 9), [at(1)])])
    server.handle(asker, request({ requestId: 2, streamPartId: partOf(9) }))
    await ended(2)
    expect(links.packets('resendEnd').map(({ code }) => code)).toEqual(['NOT_STORED', ''])
    expect(times()).toEqual([1])
  })

  it('refuses who may not subscribe', async () => {
    denied.add(asker)
    server.handle(asker, request())
    server.handle(asker, awaiting({ requestId: 2 }))
    await until(() => links.sent.length === 2)
    expect(links.packets('resendEnd')).toMatchObject([{ code: 'NOT_PERMITTED' }])
    expect(links.packets('stored')).toMatchObject([{ code: 'NOT_PERMITTED' }])
  })

  it('says that it is being stopped', async () => {
    server.handle(asker, request({ windowBytes: 1 }))
    server.handle(asker, awaiting({ ...at(99) }))
    await until(() => times().length === 1)
    await server.stop()
    server.handle(asker, request({ requestId: 2 }))
    await turns()
    expect(links.packets('resendEnd').map(({ code }) => code)).toEqual(['SHUTTING_DOWN', 'SHUTTING_DOWN'])
    expect(links.packets('stored').map(({ code }) => code)).toEqual(['SHUTTING_DOWN'])
  })

  it('tells of a message when it is stored: at once, later, or in time that it is not', async () => {
    server.handle(asker, awaiting())
    await until(() => links.sent.length === 1)
    expect(links.packets('stored')).toMatchObject([{ requestId: 1, code: '' }])

    server.handle(asker, awaiting({ requestId: 2, ...at(30) }))
    server.handle(asker, awaiting({ requestId: 3, ...at(31) }))
    await turns(20)
    expect(links.packets('stored').map(({ requestId }) => requestId)).toEqual([1, 3])
    ingest.push(batchOf(chain, [at(29), at(30)]))
    await until(() => links.packets('stored').length === 3)
    expect(links.packets('stored').slice(1)).toMatchObject([
      { requestId: 3, code: 'TOO_MANY_REQUESTS' },
      { requestId: 2, code: '' },
    ])

    server.handle(asker, awaiting({ requestId: 4, ...at(32) }))
    await turns(20)
    clock.pass(limits.awaitStoredMs)
    await until(() => links.packets('stored').length === 4)
    expect(links.packets('stored').at(-1)).toMatchObject({ requestId: 4, code: 'NOT_STORED' })
    expect(server.status().awaited).toBe(0)
  })
})
