import { createdToleranceMs, predates, type StorageNodeInfo } from '@runnel/client'
import {
  buildBatch,
  ContentType,
  createIdentity,
  cursorChain,
  encodeDelegation,
  generatePrivateKey,
  keyPartition,
  loadCrypto,
  seededRandom,
  toStreamId,
  toStreamPartId,
  type BatchSigner,
  type Delegation,
  type MessageBatch,
  type MessageRef,
  type PublisherPolicy,
} from '@runnel/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { delegationFrom, identityOf, refOf, TestDelegations } from '../delegations.testkit.ts'
import { storageError } from '../errors.ts'
import { KnownDelegations } from '../known-delegations.ts'
import { storageLimits, type StorageLimits } from '../storage-limits.ts'
import { openTestStore, TestClock, until, type TestStore } from '../storage.testkit.ts'
import { at, chainOf, nodeId, partOf } from '../store/batches.testkit.ts'
import { checkBatch } from './check-batch.ts'
import { RepairMarks } from './repair-marks.ts'
import { Repair } from './repair.ts'

const crypto = await loadCrypto()
const publisher = createIdentity(generatePrivateKey(seededRandom('repair')), crypto)
const other = identityOf('delegate')
const stranger = createIdentity(generatePrivateKey(seededRandom('stranger')), crypto)
const part = partOf(0)
const self = nodeId(1)
const [first, second, third] = [2, 3, 4].map((n) => ({ nodeId: nodeId(n), url: `ws://node-${n}` })) as [
  StorageNodeInfo,
  StorageNodeInfo,
  StorageNodeInfo,
]
const limits = { ...storageLimits, repairMarginMs: 1_000 }

/** Of the publisher, signed under a delegation. */
function delegatedBatchAt(place: MessageRef, delegation: Delegation, delegate = other): MessageBatch {
  return batchAt(place, publisher, 0, { sign: delegate.sign, delegationRef: refOf(delegation) })
}

function batchAt(
  place: MessageRef,
  publisherOf = publisher,
  partition = 0,
  signer: BatchSigner = publisherOf,
  messageChainId = 'chain',
): MessageBatch {
  const chain = chainOf(messageChainId, publisherOf.nodeId, partition)
  const content = new Uint8Array(10)
  const rest = { previous: undefined, contentType: ContentType.binary, encryptionType: 0, groupKeyId: '' }
  return buildBatch({ chain, messages: [{ ...place, ...rest, content }] }, crypto, signer)
}

describe('Repair', () => {
  let own: TestStore
  let clock: TestClock
  /** What the other storage nodes answer; undefined: they cannot be reached. */
  let others: Map<string, readonly MessageBatch[] | undefined>
  let asked: { readonly node: string; readonly fromMs: number }[]
  /** Of the publisher's permission. */
  let publishUntilMs: number
  let chainsAsked: (string | undefined)[]
  let oldestMs: number
  let createdMs: number
  let failures: string[]
  /** Of those that send the first of what they have and no more. */
  let stalled: Set<string>
  let onStalled: () => void
  /** Whether a source that is called off ends as if all had come. */
  let endsQuietly: boolean
  /** Is told of every batch that is sent. */
  let onSent: () => void
  let permissionsAsked: number
  /** Look-ups after which nothing is known, as the registry told of a change meanwhile. */
  let overtaken: number
  let node: TestDelegations
  /** From when on delegations are taken back. */
  let revokedMs: number
  let partsAsked: string[]

  beforeEach(async () => {
    own = await openTestStore()
    clock = new TestClock()
    others = new Map([[first.nodeId, []]])
    asked = []
    failures = []
    stalled = new Set()
    endsQuietly = false
    onSent = () => {}
    permissionsAsked = 0
    overtaken = 0
    node = new TestDelegations()
    revokedMs = Infinity
    partsAsked = []
    oldestMs = 0
    createdMs = 0
    publishUntilMs = Infinity
    chainsAsked = []
  })
  afterEach(() => own.remove())

  /** A run of the storage node. */
  async function startRepair(
    changes: Partial<StorageLimits> = {},
  ): Promise<{ repair: Repair; marks: RepairMarks }> {
    const marks = new RepairMarks({ nodeId: self, runMs: clock.now() }, { store: own.store })
    await marks.begin()
    const client = {
      nodeId: self,
      getStorageNodes: async () => [
        { nodeId: self, url: 'ws://self' },
        ...[first, second, third].filter((node) => others.has(node.nodeId)),
      ],
    }
    const endings = { validUntilMs: () => Promise.resolve(revokedMs) }
    const policy: PublisherPolicy = {
      check: (_, publisherId, wallMs, oldestMs = Infinity, delegation) => {
        if (permissionsAsked <= overtaken) return 'unknown'
        if (delegation !== undefined && revokedMs < Infinity) return 'denied'
        const untilMs = publisherId === publisher.nodeId ? publishUntilMs : 0
        return wallMs < untilMs && !predates(oldestMs, { createdMs }) ? 'allowed' : 'denied'
      },
      resolve: async () => void permissionsAsked++,
    }
    const known = new KnownDelegations(node)
    const repair = new Repair(
      { intervalMs: 60_000, limits: { ...limits, ...changes } },
      {
        ...{ client, store: own.store, marks, clock },
        source: {
          read: async function* (node, { streamPartId, from, to, messageChainId }, signal) {
            chainsAsked.push(messageChainId)
            partsAsked.push(streamPartId)
            asked.push({ node: node.nodeId, fromMs: from.timestamp })
            const batches = others.get(node.nodeId)
            if (batches === undefined) throw storageError('SHUTTING_DOWN')
            for (const batch of batches) {
              const time = batch.messages[0]?.timestamp ?? 0
              if (time < from.timestamp || time > to.timestamp) continue
              onSent()
              yield batch.bytes
              if (endsQuietly && signal.aborted) return
              if (!stalled.has(node.nodeId)) continue
              await new Promise((resolve) => {
                signal.addEventListener('abort', resolve, { once: true })
                onStalled()
              })
              throw storageError('SHUTTING_DOWN')
            }
          },
        },
        check: (bytes, place) =>
          checkBatch(bytes, place, { policy, endings, delegations: node, known, crypto, clock }),
        oldestMs: async () => oldestMs,
        events: {
          repaired: () => {},
          failed: (_, from, error) => failures.push(`${from} ${String(error)}`),
        },
      },
    )
    return { repair, marks }
  }

  const ownTimes = async () => {
    const range = { streamPartId: part, from: at(0), to: at(2 ** 47) }
    const { batches } = await own.store.read(range, { maxBytes: 1e6 })
    return batches.length
  }

  it('copies all there is to a node that is new to a stream, once', async () => {
    others.set(first.nodeId, [batchAt(at(5)), batchAt(at(clock.now()))])
    const { repair } = await startRepair()
    await repair.joined(part)
    expect(repair.status().incompleteParts).toBe(1)
    await repair.run()
    expect(asked).toEqual([{ node: first.nodeId, fromMs: 0 }])
    expect(await ownTimes()).toBe(2)
    expect(repair.status()).toMatchObject({ incompleteParts: 0, copiedBatches: 2 })
    await repair.run()
    expect(asked).toHaveLength(1)
  })

  it('writes nothing down of storage nodes that had answered before and do so again', async () => {
    const { repair, marks } = await startRepair()
    const setUnasked = vi.spyOn(marks, 'setUnasked')
    await repair.joined(part)
    await repair.run()
    expect(asked).toHaveLength(1)
    expect(setUnasked).not.toHaveBeenCalled()
  })

  it('copies the records of 10,000 chains of a key part, and those that came while others did', async () => {
    const keys = partOf(keyPartition)
    const recordAt = (i: number, timestamp: number) =>
      batchAt(at(timestamp), publisher, keyPartition, publisher, `l${i}`)
    const records = Array.from({ length: 10_000 }, (_, i) => recordAt(i, 1_000 + i))
    others.set(first.nodeId, records)
    const { repair } = await startRepair()
    await repair.joined(keys)
    await repair.run()
    expect(repair.status()).toMatchObject({
      incompleteParts: 0,
      copiedBatches: 10_000,
      gaps: 0,
      refusedGaps: 0,
    })
    for (const i of [0, 4_321, 9_999]) {
      const filter = { publisherId: publisher.nodeId, messageChainId: `l${i}` }
      expect(await own.store.last(keys, 1, filter)).toMatchObject({ from: at(1_000 + i), count: 1 })
    }
    clock.pass(100_000)
    const heardMs = clock.now()
    repair.heard(keys)
    others.set(first.nodeId, [...records, recordAt(0, heardMs + 5)])
    clock.pass(60_000)
    await repair.run()
    expect(asked.at(-1)).toEqual({ node: first.nodeId, fromMs: heardMs - limits.repairMarginMs })
    expect(repair.status().copiedBatches).toBe(10_001)
    await repair.run()
    expect(asked).toHaveLength(2)
  })

  it('reads what came in a key part also when it cannot be noted, and says that', async () => {
    const { repair, marks } = await startRepair()
    await repair.joined(part)
    await repair.neighboursChanged(part, 1)
    await repair.run()
    asked.length = 0
    repair.heard(part)
    const setPart = vi.spyOn(marks, 'setPart').mockRejectedValueOnce(storageError('STORE_FULL'))
    await repair.run()
    expect(failures).toEqual([expect.stringContaining('no space left')])
    expect(asked).toEqual([{ node: first.nodeId, fromMs: clock.now() - limits.repairMarginMs }])
    expect(setPart).toHaveBeenCalledTimes(2)
  })

  it('asks again for what found no room while it was copied from an earlier time, also after a crash', async () => {
    others.set(first.nodeId, [batchAt(at(1))])
    const { repair, marks } = await startRepair()
    await repair.joined(part)
    await repair.neighboursChanged(part, 1)
    let droppedMs = 0
    onSent = () => {
      onSent = () => {}
      clock.pass(100)
      droppedMs = clock.now()
      void repair.dropped(part, droppedMs + 10)
      void repair.dropped(part, droppedMs)
    }
    await repair.run()
    expect(repair.status().incompleteParts).toBe(1)
    expect(await marks.missingSince(part)).toBe(droppedMs)
    await repair.run()
    expect(asked.map(({ fromMs }) => fromMs)).toEqual([0, droppedMs])
    expect(repair.status().incompleteParts).toBe(0)
  })

  it('begins by itself, a while after a stream part is joined or as soon as it has neighbours', async () => {
    const { repair } = await startRepair()
    await repair.joined(part)
    clock.pass(limits.settleMs)
    await until(() => asked.length === 1 && repair.status().incompleteParts === 0)
    await repair.stop()

    const again = await startRepair()
    await again.repair.joined(part)
    await again.repair.neighboursChanged(part, 1)
    clock.pass(0)
    await until(() => asked.length === 2)
    await again.repair.stop()
  })

  it('after a restart asks for what came since the last sign of life, with a margin', async () => {
    const before = await startRepair()
    await before.repair.joined(part)
    await before.repair.neighboursChanged(part, 1)
    await before.repair.run()
    clock.pass(100_000)
    const aliveMs = clock.now()
    await before.marks.alive(aliveMs, 100_000)
    clock.pass(500_000)
    const { repair } = await startRepair()
    await repair.joined(part)
    await repair.run()
    expect(asked.at(-1)).toEqual({ node: first.nodeId, fromMs: aliveMs - limits.repairMarginMs })
  })

  describe('with a clock that was ahead', () => {
    const hourMs = 3_600_000
    /** A run that misses nothing, for this long, and how it ends. */
    async function runFor(ms: number, end: 'stop' | 'crash'): Promise<void> {
      const { repair, marks } = await startRepair()
      await repair.joined(part)
      await repair.neighboursChanged(part, 1)
      await repair.run()
      clock.pass(ms)
      if (end === 'stop') await repair.left(part, clock.now())
      await marks.alive(clock.now(), ms)
      await repair.stop()
    }
    /** From when on the next run asks. */
    async function askedFrom(): Promise<number | undefined> {
      asked = []
      const { repair } = await startRepair()
      await repair.joined(part)
      await repair.run()
      await repair.stop()
      return asked[0]?.fromMs
    }

    it.each(['stop', 'crash'] as const)('asks after a %s for what came since', async (end) => {
      clock.pass(10 * hourMs)
      await runFor(hourMs, 'stop')
      const firstEndMs = clock.now()
      clock.pass(60_000)
      clock.moveWall(2 * hourMs)
      await runFor(hourMs, end)
      clock.moveWall(-2 * hourMs)
      clock.pass(60_000)
      expect(await askedFrom()).toBe(firstEndMs + hourMs - limits.repairMarginMs)
    })

    it('asks for all that is kept when it was ahead in two runs', async () => {
      clock.moveWall(2 * hourMs)
      await runFor(hourMs, 'stop')
      await runFor(hourMs, 'stop')
      clock.moveWall(-2 * hourMs)
      clock.pass(60_000)
      oldestMs = 77
      expect(await askedFrom()).toBe(77)
    })

    it('asks a node that could not be reached for all that is kept', async () => {
      clock.moveWall(2 * hourMs)
      const { repair } = await startRepair()
      await repair.joined(part)
      await repair.run()
      others.set(second.nodeId, undefined)
      await repair.missed(part, clock.now())
      await repair.run()
      clock.moveWall(-2 * hourMs)
      others.set(second.nodeId, [])
      asked = []
      await repair.run()
      expect(asked).toContainEqual({ node: second.nodeId, fromMs: 0 })
    })

    it('asks for what it missed by that clock when it is set back', async () => {
      clock.moveWall(2 * hourMs)
      const { repair } = await startRepair()
      await repair.joined(part)
      await repair.run()
      const missedMs = clock.now() - 5_000
      await repair.missed(part, missedMs)
      clock.moveWall(-2 * hourMs)
      await repair.run()
      expect(asked.at(-1)?.fromMs).toBe(missedMs - 2 * hourMs)
    })
  })

  it('asks for what it had not when its clock was behind, once that is set forward', async () => {
    const { repair } = await startRepair()
    await repair.joined(part)
    await repair.run()
    clock.pass(60_000)
    const behindMs = clock.now()
    clock.moveWall(3_600_000)
    await repair.run()
    expect(asked.at(-1)?.fromMs).toBe(behindMs - limits.repairMarginMs)
    await repair.run()
    expect(asked).toHaveLength(2)
  })

  it('asks for that of all stream parts, also when it cannot be noted', async () => {
    const { repair, marks } = await startRepair()
    const parts = [part, partOf(1), partOf(2)]
    for (const id of parts) await repair.joined(id)
    await repair.run()
    const setPart = vi.spyOn(marks, 'setPart').mockRejectedValue(storageError('STORE_FULL'))
    partsAsked = []
    clock.moveWall(3_600_000)
    await repair.missed(partOf(2), clock.now()).catch(() => {})
    await repair.run()
    setPart.mockRestore()
    await repair.saveMarks()
    await repair.run()
    expect(new Set(partsAsked)).toEqual(new Set(parts))
  })

  it('asks again from where it was when it was killed before it was done', async () => {
    others.set(first.nodeId, undefined)
    const { repair } = await startRepair()
    await repair.joined(part)
    await repair.stop()
    clock.pass(100_000)
    await (await startRepair()).marks.alive(clock.now(), 0)
    others.set(first.nodeId, [batchAt(at(3))])
    const next = await startRepair()
    await next.repair.joined(part)
    await next.repair.run()
    expect(asked).toEqual([{ node: first.nodeId, fromMs: 0 }])
    expect(await ownTimes()).toBe(1)
  })

  it('goes on with the others while one cannot be reached, and asks that one later, also after a restart', async () => {
    others = new Map([
      [first.nodeId, undefined],
      [second.nodeId, [batchAt(at(1))]],
    ])
    const { repair } = await startRepair()
    await repair.joined(part)
    await repair.run()
    expect(await ownTimes()).toBe(1)
    expect(failures).toHaveLength(1)
    expect(repair.status().incompleteParts).toBe(1)
    await repair.run()
    expect(asked.map(({ node }) => node)).toEqual([first.nodeId, second.nodeId, first.nodeId])
    await repair.stop()
    clock.pass(100_000)
    const next = await startRepair()
    others.set(first.nodeId, [batchAt(at(2))])
    await next.repair.joined(part)
    await next.repair.run()
    expect(asked.slice(3)).toEqual([
      { node: first.nodeId, fromMs: 0 },
      { node: second.nodeId, fromMs: expect.any(Number) },
    ])
    expect(await ownTimes()).toBe(2)
    expect(next.repair.status().incompleteParts).toBe(0)
  })

  it('asks again for what it had not copied when it was stopped, also where the source ends without an error', async () => {
    others.set(
      first.nodeId,
      [1, 2, 3].map((n) => batchAt(at(n))),
    )
    endsQuietly = true
    const { repair } = await startRepair()
    let stopping: Promise<void> | undefined
    onSent = () => void (stopping ??= repair.stop())
    await repair.joined(part)
    await repair.run()
    await stopping
    clock.pass(100_000)
    const next = await startRepair()
    await next.repair.joined(part)
    await next.repair.run()
    expect(await ownTimes()).toBe(3)
    expect(next.repair.status().incompleteParts).toBe(0)
  })

  it('asks for the time without neighbours, and for what a full queue dropped', async () => {
    const { repair } = await startRepair()
    await repair.joined(part)
    await repair.neighboursChanged(part, 1)
    await repair.run()
    clock.pass(60_000)
    const lonelyMs = clock.now()
    await repair.neighboursChanged(part, 0)
    clock.pass(60_000)
    await repair.neighboursChanged(part, 2)
    await repair.run()
    expect(asked.at(-1)).toMatchObject({ fromMs: lonelyMs - limits.repairMarginMs })
    await repair.missed(part, 77)
    await repair.missed(part, 99)
    await repair.run()
    expect(asked.at(-1)).toMatchObject({ fromMs: 77 })
  })

  it('knows how long it had no neighbours, and for what gaps to ask, when its clock is set back', async () => {
    const { repair } = await startRepair()
    await repair.joined(part)
    await repair.neighboursChanged(part, 1)
    await repair.run()
    await repair.neighboursChanged(part, 0)
    clock.pass(60_000)
    clock.moveWall(-3_600_000)
    await repair.neighboursChanged(part, 1)
    await repair.run()
    expect(asked.at(-1)?.fromMs).toBe(clock.now() - 60_000 - limits.repairMarginMs)
    await repair.missed(part, clock.now() + 1_800_000)
    await repair.run()
    expect(asked.at(-1)?.fromMs).toBe(clock.now())
    repair.gap(gapOf(clock.now() - 50, clock.now()))
    expect(repair.status()).toMatchObject({ gaps: 1, refusedGaps: 0 })
  })

  it.each(['stop', 'crash'])('asks for the time without neighbours after a %s in it', async (end) => {
    const { repair, marks } = await startRepair()
    await repair.joined(part)
    await repair.neighboursChanged(part, 1)
    await repair.run()
    clock.pass(60_000)
    const lonelyMs = clock.now()
    await repair.neighboursChanged(part, 0)
    clock.pass(60_000)
    await repair.missed(part, clock.now())
    await repair.run()
    await marks.alive(clock.now(), 0)
    if (end === 'stop') await repair.left(part, clock.now())
    const next = await startRepair()
    expect(await next.marks.missingSince(part)).toBe(lonelyMs - limits.repairMarginMs)
    await next.repair.joined(part)
    await next.repair.run()
    expect(asked.at(-1)?.fromMs).toBe(lonelyMs - 2 * limits.repairMarginMs)
  })

  it('writes a mark again that could not be written, and says so while it cannot', async () => {
    const { repair, marks } = await startRepair()
    await repair.joined(part)
    await repair.neighboursChanged(part, 1)
    await repair.run()
    const failure = storageError('STORE_FULL')
    const setPart = vi.spyOn(marks, 'setPart').mockRejectedValue(failure)
    await expect(repair.missed(part, 77)).rejects.toBe(failure)
    await repair.missed(part, 99)
    await expect(repair.saveMarks()).rejects.toBe(failure)
    setPart.mockRestore()
    await repair.saveMarks()
    await marks.alive(clock.now(), 0)
    expect(await (await startRepair()).marks.missingSince(part)).toBe(77)
    const written = vi.spyOn(marks, 'setPart')
    await repair.saveMarks()
    expect(written).not.toHaveBeenCalled()
  })

  it('asks after a stop for the batches that were given up with the queue', async () => {
    const { repair } = await startRepair()
    await repair.joined(part)
    await repair.neighboursChanged(part, 1)
    await repair.run()
    clock.pass(60_000)
    const storedUntilMs = clock.now() - 50_000
    await repair.left(part, storedUntilMs)
    const next = await startRepair()
    await next.repair.joined(part)
    await next.repair.run()
    expect(asked.at(-1)?.fromMs).toBe(storedUntilMs - limits.repairMarginMs)
  })

  it('asks for nothing older than is kept', async () => {
    oldestMs = 500
    const { repair } = await startRepair()
    await repair.joined(part)
    await repair.run()
    expect(asked).toEqual([{ node: first.nodeId, fromMs: 500 }])
  })

  it('stores only what is genuine, of this stream part, and by who may publish', async () => {
    const good = batchAt(at(1))
    const forged = batchAt(at(2)).bytes.slice()
    forged[forged.length - 10] = (forged[forged.length - 10] ?? 0) ^ 1
    others.set(first.nodeId, [
      { ...good, bytes: forged },
      batchAt(at(3), stranger),
      batchAt(at(4), publisher, 1),
      good,
    ])
    const { repair } = await startRepair()
    await repair.joined(part)
    await repair.run()
    expect(await ownTimes()).toBe(1)
    expect(repair.status()).toMatchObject({ copiedBatches: 1, refusedBatches: 3 })
  })

  it('looks a publisher up again of whom the registry told a change while it was asked', async () => {
    overtaken = 1
    others.set(first.nodeId, [batchAt(at(1))])
    const { repair } = await startRepair()
    await repair.joined(part)
    await repair.run()
    expect(await ownTimes()).toBe(1)
    expect(repair.status()).toMatchObject({ copiedBatches: 1, refusedBatches: 0 })
  })

  it('stores what is signed under a delegation, with the delegation, if it covers the batch', async () => {
    const delegation = delegationFrom(publisher, other, { untilMs: 10 })
    const ofOthers = delegationFrom(stranger, other)
    const readsOnly = delegationFrom(publisher, other, { publishes: false })
    const tooLong = delegationFrom(publisher, other, { untilMs: 367 * 86_400_000 })
    const forged = { ...delegationFrom(publisher, other), requester: 'other' }
    const lost = delegationFrom(publisher, other, { requester: 'lost' })
    const otherChain = delegationFrom(publisher, other, { chainId: 2 })
    for (const one of [delegation, ofOthers, readsOnly, tooLong, forged, otherChain]) node.add(one)
    const good = delegatedBatchAt(at(1), delegation)
    const bad = [
      delegatedBatchAt(at(10), delegation),
      delegatedBatchAt(at(2), delegation, stranger),
      ...[ofOthers, readsOnly, tooLong, forged, otherChain, lost].map((one) => delegatedBatchAt(at(3), one)),
    ]
    others.set(first.nodeId, [good, ...bad])
    const { repair } = await startRepair()
    await repair.joined(part)
    await repair.run()
    expect(repair.status()).toMatchObject({ copiedBatches: 1, refusedBatches: bad.length })
    const stored = await own.store.delegationsOf([good])
    expect(stored.get(refOf(delegation))).toEqual(encodeDelegation(delegation))
  })

  it('stores no cursor of a delegate that may not read', async () => {
    const [reads, publishes] = [{ publishes: false }, { reads: false }].map((rights) =>
      delegationFrom(publisher, other, { untilMs: 10, ...rights }),
    ) as [Delegation, Delegation]
    for (const one of [reads, publishes]) node.add(one)
    const cursorAt = (place: MessageRef, delegation: Delegation) => {
      const signer = { sign: other.sign, delegationRef: refOf(delegation) }
      return batchAt(place, publisher, keyPartition, signer, cursorChain(new Uint8Array(16), 0))
    }
    others.set(first.nodeId, [cursorAt(at(1), reads), cursorAt(at(2), publishes)])
    const { repair } = await startRepair()
    await repair.joined(partOf(keyPartition))
    await repair.run()
    expect(repair.status()).toMatchObject({ copiedBatches: 1, refusedBatches: 1 })
  })

  it('stores what was signed before a delegation was taken back, when enough have it, and nothing later', async () => {
    const delegation = delegationFrom(publisher, other)
    node.add(delegation)
    const [early, late] = [delegatedBatchAt(at(1), delegation), delegatedBatchAt(at(20), delegation)]
    revokedMs = 10
    others = new Map([
      [first.nodeId, [early, late]],
      [second.nodeId, [early, late]],
    ])
    const { repair } = await startRepair()
    await repair.joined(part)
    await repair.run()
    expect(await ownTimes()).toBe(1)
    expect((await own.store.delegationsOf([early])).size).toBe(1)
  })

  it('stores nothing of an earlier stream of the same id', async () => {
    createdMs = 10 * createdToleranceMs
    const oldest = createdMs - createdToleranceMs
    others.set(first.nodeId, [batchAt(at(oldest - 1)), batchAt(at(oldest))])
    const { repair } = await startRepair()
    await repair.joined(part)
    await repair.run()
    expect(repair.status()).toMatchObject({ copiedBatches: 1, refusedBatches: 1 })
  })

  it('asks the registry of nobody who signed nothing', async () => {
    const forged = batchAt(at(2)).bytes.slice()
    forged[forged.length - 10] = (forged[forged.length - 10] ?? 0) ^ 1
    others.set(first.nodeId, [{ ...batchAt(at(2)), bytes: forged }])
    const { repair } = await startRepair()
    await repair.joined(part)
    await repair.run()
    expect(repair.status()).toMatchObject({ refusedBatches: 1 })
    expect(permissionsAsked).toBe(0)
  })

  it('gives up one that takes too long, keeps what it sent, and goes on from there in the next round', async () => {
    others = new Map([
      [first.nodeId, [batchAt(at(1)), batchAt(at(4))]],
      [second.nodeId, [batchAt(at(1)), batchAt(at(2)), batchAt(at(3))]],
    ])
    stalled.add(first.nodeId)
    const { repair } = await startRepair()
    await repair.joined(part)
    const waited = new Promise<void>((resolve) => (onStalled = resolve))
    const running = repair.run()
    await waited
    stalled.clear()
    // A round is due meanwhile, too.
    clock.pass(limits.maxTurnMs)
    await running
    await repair.run()
    expect(failures).toEqual([expect.stringContaining(first.nodeId)])
    expect(repair.status()).toMatchObject({ incompleteParts: 0 })
    expect(asked.slice(2)).toEqual([{ node: first.nodeId, fromMs: 1 }])
    expect(await ownTimes()).toBe(4)
  })

  it('gives up one that sends much that may not be stored, for this round', async () => {
    const denied = Array.from({ length: 5 }, (_, i) => batchAt(at(i + 1), stranger))
    others.set(first.nodeId, [...denied, batchAt(at(9))])
    const { repair } = await startRepair({ maxRefusedPerTurn: 3 })
    await repair.joined(part)
    await repair.run()
    expect(repair.status()).toMatchObject({ refusedBatches: 3, incompleteParts: 1 })
    await repair.run()
    expect(asked.at(-1)).toMatchObject({ fromMs: 4 })
    expect(repair.status()).toMatchObject({ copiedBatches: 1, incompleteParts: 0 })
  })

  it('gets past much of one time that may not be stored', async () => {
    const denied = Array.from({ length: 5 }, (_, i) => batchAt(at(2, i), stranger))
    others.set(first.nodeId, [...denied, batchAt(at(9))])
    const { repair } = await startRepair({ maxRefusedPerTurn: 3 })
    await repair.joined(part)
    await repair.run()
    await repair.run()
    await repair.run()
    expect(repair.status()).toMatchObject({ copiedBatches: 1, incompleteParts: 0 })
  })

  it('asks for gaps, and for what is joined meanwhile, while another stream part is copied', async () => {
    const all = Array.from({ length: 10 }, (_, i) => batchAt(at(i + 1)))
    others.set(first.nodeId, all)
    const { repair } = await startRepair({ maxTurnBytes: 1 })
    await repair.joined(part)
    let sent = 0
    onSent = () => {
      if (++sent !== 3) return
      repair.gap(gapOf(clock.now() - 10, clock.now()))
      void repair.joined(partOf(1))
    }
    await repair.run()
    expect(chainsAsked.indexOf('chain')).toBeGreaterThan(0)
    expect(chainsAsked.indexOf('chain')).toBeLessThan(5)
    expect(partsAsked.indexOf(partOf(1))).toBeLessThan(partsAsked.lastIndexOf(part))
  })

  it('leaves one alone whose part of the time is not reached yet', async () => {
    const all = Array.from({ length: 4 }, (_, i) => batchAt(at(i + 1)))
    others = new Map([
      [first.nodeId, all],
      [second.nodeId, [batchAt(at(4))]],
    ])
    const { repair, marks } = await startRepair({ maxTurnBytes: 1 })
    await marks.setUnasked(part, first.nodeId, 1)
    await marks.setPart(part, 4 + limits.repairMarginMs)
    await repair.joined(part)
    await repair.run()
    const ofSecond = asked.filter(({ node }) => node === second.nodeId)
    expect(ofSecond.map(({ fromMs }) => fromMs)).toEqual([4, 4])
    expect(await ownTimes()).toBe(4)
    expect(repair.status()).toMatchObject({ incompleteParts: 0 })
  })

  it('copies no more of a stream part that it has left', async () => {
    others.set(
      first.nodeId,
      Array.from({ length: 20 }, (_, i) => batchAt(at(i + 1))),
    )
    const { repair } = await startRepair({ maxTurnBytes: 1 })
    await repair.joined(part)
    let sent = 0
    onSent = () => {
      if (++sent === 5) void repair.left(part, 0)
    }
    await repair.run()
    expect(await ownTimes()).toBeLessThan(8)
    expect(repair.status().incompleteParts).toBe(0)
    const { length } = asked
    await repair.run()
    expect(asked).toHaveLength(length)
  })

  it('knows what it missed of a stream part that it left as soon as it had joined it', async () => {
    const { repair, marks } = await startRepair()
    await marks.setPart(part, 5)
    const joining = repair.joined(part)
    await Promise.all([joining, repair.left(part, clock.now())])
    expect(await marks.missingSince(part)).toBe(5)
  })

  it('learns what it missed as soon as the store says it, and notes nothing in its place before', async () => {
    const { repair, marks } = await startRepair()
    await marks.setPart(part, 5_000)
    const asking = vi.spyOn(marks, 'missingSince')
    asking.mockRejectedValueOnce(storageError('STORE_UNAVAILABLE'))
    const joining = repair.joined(part)
    await until(() => failures.length === 1)
    await repair.neighboursChanged(part, 1)
    await marks.alive(clock.now(), 0)
    const killed = await startRepair()
    expect(await killed.marks.missingSince(part)).toBe(5_000)
    clock.pass(2 * limits.minStoreBackoffMs)
    await joining
    await repair.run()
    expect(asked.at(-1)).toEqual({ node: first.nodeId, fromMs: 5_000 - limits.repairMarginMs })
  })

  it('learns it of more stream parts at once than the store answers questions', async () => {
    const { repair, marks } = await startRepair()
    vi.spyOn(marks, 'setPart').mockResolvedValue()
    const parts = Array.from({ length: 1_100 }, (_, i) => toStreamPartId(toStreamId(`${self}/s${i}`), 0))
    await Promise.all(parts.map((id) => repair.joined(id)))
    expect(repair.status()).toMatchObject({ incompleteParts: parts.length, failures: 0 })
  })

  it('is not incomplete for what found no room of a stream part that it has left', async () => {
    const { repair, marks } = await startRepair()
    await repair.joined(part)
    await repair.left(part, clock.now())
    const droppedMs = clock.now() - 10
    await repair.dropped(part, droppedMs)
    await repair.run()
    expect([repair.status().incompleteParts, asked]).toEqual([0, []])
    expect(await marks.missingSince(part)).toBeLessThanOrEqual(droppedMs)
  })

  it('asks all again when one that failed may be the witness that is lacking, some times', async () => {
    publishUntilMs = 1_000
    others = new Map([
      [first.nodeId, undefined],
      [second.nodeId, [batchAt(at(5))]],
    ])
    const { repair } = await startRepair()
    await repair.joined(part)
    await repair.run()
    expect(await ownTimes()).toBe(0)
    others.set(first.nodeId, [batchAt(at(5))])
    await repair.run()
    expect(await ownTimes()).toBe(1)
    expect(repair.status()).toMatchObject({ incompleteParts: 0 })

    others.set(first.nodeId, undefined)
    await repair.missed(part, 0)
    others.set(second.nodeId, [batchAt(at(6))])
    const before = asked.length
    for (let round = 0; round < 2 * limits.maxWitnessTries; round++) await repair.run()
    const ofSecond = asked.slice(before).filter(({ node }) => node === second.nodeId)
    expect(ofSecond).toHaveLength(1 + limits.maxWitnessTries)
  })

  it('begins in time however often stream parts are joined', async () => {
    const { repair } = await startRepair()
    for (let i = 0; i < 4; i++) {
      await repair.joined(part)
      clock.pass(limits.settleMs / 4)
    }
    await until(() => asked.length === 1)
    await repair.stop()
  })

  it('takes garbage for a failure', async () => {
    others.set(first.nodeId, [{ ...batchAt(at(1)), bytes: new Uint8Array([1, 2, 3]) }])
    const { repair } = await startRepair()
    await repair.joined(part)
    await repair.run()
    expect(failures).toHaveLength(1)
    expect(repair.status()).toMatchObject({ incompleteParts: 1, failures: 1 })
  })

  const gapOf = (afterMs: number, upToMs: number, chainId = 'chain', by = publisher) => {
    const chain = { ...chainOf(chainId, by.nodeId), messageChainId: chainId }
    return { streamPartId: part, chain, after: at(afterMs), upTo: at(upToMs) }
  }

  it('asks for what a publisher says is missing of its chain alone, once, and not for what was before the node', async () => {
    others.set(first.nodeId, [batchAt(at(clock.now()))])
    const { repair } = await startRepair()
    await repair.joined(part)
    await repair.run()
    clock.pass(100_000)
    const nowMs = clock.now()
    const joinedMs = nowMs - 100_000
    others.set(first.nodeId, [batchAt(at(nowMs - 10))])
    repair.gap(gapOf(1, nowMs))
    await repair.run()
    expect(asked.slice(1)).toEqual([{ node: first.nodeId, fromMs: joinedMs - limits.repairMarginMs }])
    expect(chainsAsked).toEqual([undefined, 'chain'])
    expect(await ownTimes()).toBe(2)
    // The same again, and what lies before.
    repair.gap(gapOf(1, nowMs))
    repair.gap(gapOf(nowMs - 50, nowMs - 20))
    repair.gap(gapOf(1, 2))
    await repair.run()
    expect(asked).toHaveLength(2)
    expect(repair.status()).toMatchObject({ gaps: 0, refusedGaps: 3, incompleteParts: 0 })
    // Only what is new of it.
    repair.gap(gapOf(1, nowMs + 500))
    await repair.run()
    expect(asked.at(-1)).toMatchObject({ fromMs: nowMs })
  })

  it('has room for the gaps of a publisher while another has as many as it may', async () => {
    const { repair } = await startRepair()
    await repair.joined(part)
    await repair.run()
    const nowMs = clock.now()
    for (let i = 0; i < limits.maxRepairGaps + 10; i++) repair.gap(gapOf(nowMs, nowMs + 1, `c${i}`, stranger))
    repair.gap(gapOf(nowMs, nowMs + 1))
    expect(repair.status()).toMatchObject({ gaps: limits.maxRepairGaps, refusedGaps: 10 })
    await repair.run()
    // One of each publisher.
    expect(chainsAsked.slice(1)).toEqual(['c0', 'chain'])
  })

  it('does not believe how old a batch says to be that found no room', async () => {
    const { repair } = await startRepair()
    await repair.joined(part)
    await repair.neighboursChanged(part, 1)
    await repair.run()
    clock.pass(100_000)
    await repair.dropped(part, 1)
    await repair.run()
    expect(asked.at(-1)).toMatchObject({ fromMs: clock.now() - limits.repairMarginMs })
  })

  it('copies a stream part in turns, and the same stretch from each storage node', async () => {
    const turnBytes = batchAt(at(1)).bytes.length * 3
    const all = Array.from({ length: 10 }, (_, i) => batchAt(at(i + 1)))
    others = new Map([
      [first.nodeId, all],
      [second.nodeId, all],
    ])
    const { repair } = await startRepair({ maxTurnBytes: turnBytes })
    await repair.joined(part)
    await repair.run()
    expect(asked.map(({ node, fromMs }) => [node, fromMs])).toEqual(
      [0, 4, 7, 10].flatMap((from) => [
        [first.nodeId, from],
        [second.nodeId, from],
      ]),
    )
    expect(await ownTimes()).toBe(10)
    expect(repair.status()).toMatchObject({ incompleteParts: 0 })
  })

  it('believes what a publisher signed whose permission has ended when most storage nodes have it', async () => {
    publishUntilMs = 1_000
    const [known, slipped] = [batchAt(at(5)), batchAt(at(6))]
    others = new Map([
      [first.nodeId, [known]],
      [second.nodeId, [known, slipped]],
      [third.nodeId, []],
    ])
    const { repair } = await startRepair()
    await repair.joined(part)
    await repair.run()
    expect(await ownTimes()).toBe(1)
    expect(repair.status()).toMatchObject({ copiedBatches: 1, refusedBatches: 1 })
  })

  it('does not believe one storage node when the others are asked another time', async () => {
    publishUntilMs = 1_000
    others = new Map([
      [first.nodeId, undefined],
      [second.nodeId, []],
    ])
    const { repair } = await startRepair()
    await repair.joined(part)
    await repair.run()
    others.set(first.nodeId, [batchAt(at(5))])
    await repair.run()
    expect(asked.at(-1)?.node).toBe(first.nodeId)
    expect(await ownTimes()).toBe(0)
    expect(repair.status()).toMatchObject({ refusedBatches: 1 })
  })
})
