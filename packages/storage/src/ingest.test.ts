import { cursorChain, encodeDelegation, keyPartition, type DelegationClaim } from '@runnel/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { storageError } from './errors.ts'
import { Ingest, type IngestEvents } from './ingest.ts'
import { KnownDelegations } from './known-delegations.ts'
import { delegationFrom, identityOf, refOf, TestDelegations } from './delegations.testkit.ts'
import { storageLimits } from './storage-limits.ts'
import { openTestStore, TestClock, turns, until, type TestStore } from './storage.testkit.ts'
import { at, batchOf, chainOf, partOf } from './store/batches.testkit.ts'
import type { MessageStore } from './store/message-store.ts'

const { flushMs } = storageLimits
const chain = chainOf()
const batch = (timestamp: number, count = 1) =>
  batchOf(
    chain,
    Array.from({ length: count }, (_, index) => at(timestamp, index)),
  )

describe('Ingest', () => {
  let kept: TestStore
  let node: TestDelegations
  let said: string[]
  const clock = new TestClock()
  /** What the next appends do instead of storing: fail, or wait. */
  let obstacles: (() => Promise<void>)[]
  /** The partition whose batches cannot be stored. */
  let broken: number | undefined

  beforeEach(async () => {
    kept = await openTestStore()
    node = new TestDelegations()
    said = []
    obstacles = []
    broken = undefined
  })
  afterEach(() => kept.remove())

  function createIngest(options: { maxQueuedBytes?: number; maxQueuedBatches?: number } = {}) {
    const events: IngestEvents = {
      dropped: (streamPartId, fromMs) => said.push(`dropped ${streamPartId} ${fromMs}`),
      slow: () => said.push('slow'),
      failed: () => said.push('failed'),
      fault: (streamPartId, error) => said.push(`fault ${streamPartId} ${String(error)}`),
      recovered: () => said.push('recovered'),
    }
    const append: MessageStore['append'] = async (batches, delegations) => {
      await obstacles.shift()?.()
      if (batches.some((each) => each.chain.partition === broken)) throw new TypeError('no such batch')
      await kept.store.append(batches, delegations)
    }
    return new Ingest(
      { maxQueuedBytes: 1e6, maxQueuedBatches: 100, ...options, limits: storageLimits },
      { store: { append }, delegations: new KnownDelegations(node), clock, events },
    )
  }

  it('stores what it is given, and tells those who wait for a message once it is durable', async () => {
    const ingest = createIngest()
    let isHeld = true
    const gate = Promise.withResolvers<void>()
    obstacles.push(() => gate.promise)
    const stored = new Promise<void>((resolve) => {
      ingest.whenStored(chain, at(1, 2), () => {
        expect(isHeld).toBe(false)
        resolve()
      })
    })
    ingest.push(batch(1, 3))
    await turns()
    expect(ingest.status()).toMatchObject({ queuedBatches: 1, storedBatches: 0 })
    isHeld = false
    gate.resolve()
    await stored
    expect(await kept.store.has(chain, at(1, 2))).toBe(true)
    expect(ingest.status()).toMatchObject({ queuedBatches: 0, queuedBytes: 0, storedMessages: 3, lagMs: 0 })
  })

  it('stores a batch with the delegation that it names, also when the node forgets that meanwhile', async () => {
    const ingest = createIngest()
    const delegation = delegationFrom(identityOf('user'), identityOf('delegate'))
    const delegated = batchOf(chain, [at(1)], 20, 0, encodeDelegation(delegation))
    node.add(delegation)
    expect(ingest.push(delegated)).toBe(true)
    node.known.clear()
    await ingest.flushed(flushMs)
    const stored = await kept.store.delegationsOf([delegated])
    expect(stored.get(refOf(delegation))).toEqual(encodeDelegation(delegation))
  })

  it('keeps the cursor of a reader when a delegate that may only publish writes to its chain', async () => {
    const ingest = createIngest()
    const cursors = chainOf(cursorChain(new Uint8Array(16), 0), undefined, keyPartition)
    const cursorBy = (ms: number, rights: Partial<DelegationClaim>) => {
      const delegation = delegationFrom(identityOf('user'), identityOf('delegate'), rights)
      node.add(delegation)
      return batchOf(cursors, [at(ms)], 20, 0, encodeDelegation(delegation))
    }
    expect(ingest.push(cursorBy(1, { publishes: false }))).toBe(true)
    expect(ingest.push(cursorBy(2, { reads: false }))).toBe(true)
    await ingest.flushed(flushMs)
    const keys = partOf(keyPartition)
    await kept.store.prune(keys, { replacedBeforeMs: 1_000_000 })
    const last = await kept.store.last(keys, 1, { ...cursors })
    expect(last?.from).toEqual(at(1))
    expect(said).toEqual([])
  })

  it('leaves a batch to repair whose delegation is not known any more', async () => {
    const ingest = createIngest()
    const delegation = delegationFrom(identityOf('user'), identityOf('delegate'))
    expect(ingest.push(batchOf(chain, [at(1)], 20, 0, encodeDelegation(delegation)))).toBe(false)
    expect(said).toEqual([`dropped ${partOf(0)} 1`])
    expect(ingest.push(batch(2))).toBe(true)
    await ingest.flushed(flushMs)
    expect(ingest.status()).toMatchObject({ storedBatches: 1, droppedBatches: 1 })
  })

  it('stores no presence and no replies, which are of use only while they are live', async () => {
    const ingest = createIngest()
    const [presence, cursor, ofApplication] = [
      { ...chain, partition: keyPartition, messageChainId: '~p' },
      { ...chain, partition: keyPartition, messageChainId: '@c' },
      { ...chain, messageChainId: '~p' },
    ]
    for (const each of [presence, cursor, ofApplication])
      expect(ingest.push(batchOf(each, [at(1)]))).toBe(true)
    await ingest.flushed(flushMs)
    expect(await kept.store.has(presence, at(1))).toBe(false)
    expect(await kept.store.has(cursor, at(1))).toBe(true)
    expect(await kept.store.has(ofApplication, at(1))).toBe(true)
  })

  it('keeps its own copy of a batch', async () => {
    const ingest = createIngest()
    const original = batch(1)
    const bytes = original.bytes.slice()
    const gate = Promise.withResolvers<void>()
    obstacles.push(() => gate.promise)
    ingest.push(original)
    original.bytes.fill(0)
    gate.resolve()
    await ingest.flushed(flushMs)
    const range = { streamPartId: partOf(0), from: at(0), to: at(10) }
    expect((await kept.store.read(range, { maxBytes: 1e6 })).batches).toEqual([bytes])
  })

  it('tries again when the store fails, with growing pauses, and loses nothing', async () => {
    const ingest = createIngest()
    const fail = () => Promise.reject(storageError('STORE_FULL'))
    obstacles.push(fail, fail)
    ingest.push(batch(1))
    await until(() => said.length === 1)
    ingest.push(batch(2))
    clock.pass(storageLimits.minStoreBackoffMs)
    await until(() => said.length === 2)
    clock.pass(storageLimits.minStoreBackoffMs)
    await turns()
    expect(said).toEqual(['failed', 'failed'])
    expect(ingest.status().lagMs).toBe(2 * storageLimits.minStoreBackoffMs)
    clock.pass(storageLimits.minStoreBackoffMs)
    await ingest.flushed(flushMs)
    expect(said).toEqual(['failed', 'failed', 'recovered'])
    expect(ingest.status()).toMatchObject({ storedBatches: 2, failures: 2, droppedBatches: 0 })
  })

  it('lets nobody wait longer for what is queued than it said, and forgets who waited', async () => {
    const ingest = createIngest()
    const gate = Promise.withResolvers<void>()
    obstacles.push(() => gate.promise)
    ingest.push(batch(1))
    const cancelled = vi.fn()
    const { schedule } = clock
    const spy = vi.spyOn(clock, 'schedule').mockImplementation((delayMs, run) => {
      const cancel = schedule(delayMs, run)
      return () => {
        cancelled()
        cancel()
      }
    })
    const waiting = ingest.flushed(10)
    spy.mockRestore()
    clock.pass(10)
    await waiting
    expect(ingest.status().queuedBatches).toBe(1)
    gate.resolve()
    await ingest.flushed(flushMs)
    expect(cancelled).toHaveBeenCalledOnce()
  })

  it.each([
    ['batches', { maxQueuedBatches: 2 }],
    ['bytes', { maxQueuedBytes: 2 * batch(1).bytes.length }],
  ])(
    'drops what finds no room among the %s, says so once, and takes more when it has caught up',
    async (_, limit) => {
      const ingest = createIngest(limit)
      const gate = Promise.withResolvers<void>()
      obstacles.push(() => gate.promise)
      expect([1, 2, 3, 4].map((time) => ingest.push(batch(time)))).toEqual([true, true, false, false])
      expect(said).toEqual([`dropped ${partOf(0)} 3`, 'slow', `dropped ${partOf(0)} 4`])
      gate.resolve()
      await ingest.flushed(flushMs)
      expect(ingest.push(batch(5))).toBe(true)
      await ingest.flushed(flushMs)
      expect(ingest.status()).toMatchObject({ droppedBatches: 2, storedBatches: 3 })
      expect(await kept.store.has(chain, at(3))).toBe(false)
    },
  )

  const inPart = (partition: number, timestamp: number) =>
    batchOf(chainOf('chain', undefined, partition), [at(timestamp)])

  it('stores the others when something is wrong with the batches of one stream part', async () => {
    const ingest = createIngest()
    broken = 1
    const gate = Promise.withResolvers<void>()
    obstacles.push(() => gate.promise)
    for (const partition of [0, 1, 2, 1, 0]) ingest.push(inPart(partition, 5))
    gate.resolve()
    await ingest.flushed(flushMs)
    expect(said).toEqual([
      `fault ${partOf(1)} TypeError: no such batch`,
      ...[`dropped ${partOf(1)} 5`, `dropped ${partOf(1)} 5`],
    ])
    expect(ingest.status()).toMatchObject({ queuedBatches: 0, queuedBytes: 0, storedBatches: 3, faults: 1 })
    broken = undefined
    ingest.push(inPart(1, 6))
    await ingest.flushed(flushMs)
    expect(await kept.store.has(chainOf('chain', undefined, 1), at(6))).toBe(true)
  })

  it('tries what no store takes a few times, and then goes on', async () => {
    const ingest = createIngest()
    broken = 1
    ingest.push(inPart(1, 5))
    await until(() => said.length === 1)
    ingest.push(inPart(0, 6))
    for (let i = 0; i < 10; i++) {
      clock.pass(storageLimits.maxStoreBackoffMs)
      await turns()
    }
    await ingest.flushed(flushMs)
    expect(said).toContain('recovered')
    expect(said).toContain(`dropped ${partOf(1)} 5`)
    expect(await kept.store.has(chainOf('chain', undefined, 0), at(6))).toBe(true)
  })

  it('stores what is queued before it stops, and gives up what a failing store does not take', async () => {
    const ingest = createIngest()
    ingest.push(batch(1))
    await ingest.stop()
    expect(await kept.store.has(chain, at(1))).toBe(true)
    expect(ingest.push(batch(2))).toBe(false)

    const failing = createIngest()
    const fail = () => Promise.reject(storageError('STORE_FULL'))
    obstacles.push(fail, fail)
    failing.push(batch(3))
    await until(() => said.includes('failed'))
    await failing.stop()
    expect(failing.status()).toMatchObject({ queuedBatches: 1, failures: 2 })
  })
})
