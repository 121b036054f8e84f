import { createdToleranceMs } from '@runnel/client'
import { describe, expect, it } from 'vitest'
import { DiskQuota } from './disk-quota.ts'
import { oldestKeptMs, pruneAll, retentionOf, retentionOfKeys } from './retention.ts'
import { RetentionDate } from './retention-date.ts'
import { storageLimits } from './storage-limits.ts'
import { openTestStore, TestClock } from './storage.testkit.ts'
import { at, batchOf, chainOf, keyedBatch, partOf, streamId } from './store/batches.testkit.ts'

const msPerDay = 86_400_000
const metadata = (storage: unknown) => ({ metadata: JSON.stringify({ storage }), createdMs: 0 })

describe('retentionOf', () => {
  const options = { maxAgeDays: 30, streams: { [streamId]: { maxAgeDays: 7, maxBytes: 1000 } } }

  it('prefers what the operator says of the stream', () => {
    expect(retentionOf(streamId, options, undefined)).toEqual({
      maxAgeDays: 7,
      maxBytes: 1000,
      notBeforeMs: 0,
    })
    expect(retentionOf(streamId, { maxAgeDays: 30, streams: {} }, undefined)).toEqual({
      maxAgeDays: 30,
      notBeforeMs: 0,
    })
  })

  it('keeps less when the stream wants that, never more', () => {
    expect(retentionOf(streamId, options, metadata({ maxAgeDays: 1 }))).toEqual({
      maxAgeDays: 1,
      maxBytes: 1000,
      notBeforeMs: 0,
    })
    expect(retentionOf(streamId, options, metadata({ maxAgeDays: 99, maxBytes: 5 }))).toEqual({
      maxAgeDays: 7,
      maxBytes: 5,
      notBeforeMs: 0,
    })
  })

  it('keeps all keys of the stream that there is, and none of an earlier one', () => {
    expect(retentionOfKeys(undefined)).toEqual({ notBeforeMs: 0 })
    expect(retentionOfKeys({ createdMs: 2 * createdToleranceMs })).toEqual({
      notBeforeMs: createdToleranceMs,
    })
  })

  it.each([
    '',
    '{',
    'null',
    '{"storage":3}',
    '{"storage":{"maxAgeDays":-1}}',
    '{"storage":{"maxBytes":"1"}}',
  ])('takes no notice of metadata that is something else: %s', (text) =>
    expect(retentionOf(streamId, options, { metadata: text, createdMs: 0 })).toEqual({
      ...options.streams[streamId],
      notBeforeMs: 0,
    }),
  )

  it('keeps nothing of an earlier stream of the same id, whatever else is wished', () => {
    const createdMs = 50 * msPerDay
    const notBeforeMs = createdMs - createdToleranceMs
    const kept = retentionOf(streamId, { streams: {} }, { metadata: '', createdMs })
    expect(kept).toEqual({ notBeforeMs })
    expect(oldestKeptMs(kept, 100 * msPerDay)).toBe(notBeforeMs)
    expect(oldestKeptMs({ ...kept, maxAgeDays: 99 }, 100 * msPerDay)).toBe(notBeforeMs)
    expect(oldestKeptMs({ ...kept, maxAgeDays: 1 }, 100 * msPerDay)).toBe(99 * msPerDay)
  })
})

describe('pruneAll', () => {
  it('deletes what is too old, part by part', async () => {
    const { store, remove } = await openTestStore()
    const nowMs = 100 * msPerDay
    const batches = [0, 1].flatMap((partition) =>
      [90, 98, 99].map((day) => batchOf(chainOf('c', undefined, partition), [at(day * msPerDay)])),
    )
    await store.append(batches)
    const retentions = new Map([[partOf(0), { maxAgeDays: 1.5, notBeforeMs: 0 }]])
    const signal = new AbortController().signal
    const retentionOf = async (part: ReturnType<typeof partOf>) => retentions.get(part) ?? { notBeforeMs: 0 }
    const pruned = await pruneAll({ store, retentionOf, nowMs: () => nowMs, maxValuesOf: () => 0 }, signal)
    expect(pruned.batches).toBe(2)
    const usage = await store.usage()
    expect(usage.map(({ streamPartId, batches }) => [streamPartId, batches])).toEqual([
      [partOf(0), 1],
      [partOf(1), 3],
    ])
    expect(oldestKeptMs({ maxAgeDays: 1.5, notBeforeMs: 0 }, nowMs)).toBe(98.5 * msPerDay)
    await remove()
  })

  it('deletes nothing because a clock goes ahead, until it has said so for long', async () => {
    const { store, remove } = await openTestStore()
    const clock = new TestClock()
    const { clockBelievedAfterMs: believedAfterMs } = storageLimits
    const hourMs = 3_600_000
    await store.append([batchOf(chainOf('c'), [at(clock.now())])])
    const date = new RetentionDate(
      { nodeId: '0x1', limits: storageLimits },
      { store, clock, onAhead: () => {} },
    )
    await date.begin()
    const prune = async () => {
      await date.look()
      const retentionOf = async () => ({ maxAgeDays: 30, notBeforeMs: 0 })
      const modules = { store, retentionOf, nowMs: () => date.nowMs(), maxValuesOf: () => 0 }
      return (await pruneAll(modules, new AbortController().signal)).batches
    }
    clock.moveWall(365 * msPerDay)
    let passedMs = 0
    for (; passedMs < believedAfterMs; passedMs += hourMs) {
      expect(await prune()).toBe(0)
      clock.pass(hourMs)
    }
    expect(await prune()).toBe(1)
    await remove()
  })

  it('says what is gone of a stream part that may have no more bytes, also beside a last value', async () => {
    const { store, remove } = await openTestStore()
    const quota = new DiskQuota({ maxBytes: 1e9, maxBytesPerStream: 1e9 }, { store })
    const batches = [1, 2, 3, 4].map((day) => batchOf(chainOf('c'), [at(day * msPerDay)], 100))
    await store.append([keyedBatch(chainOf('key'), [1], [at(0)]), ...batches])
    const maxBytes = 2.9 * (batches[0]?.bytes.length ?? 0)
    const modules = {
      store: { usage: () => store.usage(), prune: quota.prune },
      retentionOf: async () => ({ maxBytes, notBeforeMs: 0 }),
      ...{ nowMs: () => 5 * msPerDay, maxValuesOf: () => 1 },
    }
    await pruneAll(modules, new AbortController().signal)
    expect(await quota.goneBeforeMs(partOf(0))).toBe(2 * msPerDay + 1)
    await remove()
  })

  it('deletes what is left of a stream that was made again', async () => {
    const { store, remove } = await openTestStore()
    await store.append([1, 2, 3].map((day) => batchOf(chainOf('c'), [at(day * msPerDay)])))
    const signal = new AbortController().signal
    const retentionOf = async () => ({ notBeforeMs: 3 * msPerDay })
    const pruned = await pruneAll(
      { store, retentionOf, nowMs: () => 4 * msPerDay, maxValuesOf: () => 0 },
      signal,
    )
    expect(pruned.batches).toBe(2)
    await remove()
  })
})
