import type { MessageBatch, StreamPartId } from '@runnel/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DiskQuota } from './disk-quota.ts'
import { openTestStore, type TestStore } from './storage.testkit.ts'
import { at, batchOf, chainOf, nodeId } from './store/batches.testkit.ts'
import { toStreamId, toStreamPartId } from '@runnel/protocol'

const streamOf = (owner: number, path = 'a') => toStreamId(`${nodeId(owner)}/${path}`)
const partOf = (owner: number, path = 'a') => toStreamPartId(streamOf(owner, path), 0)
const contentBytes = 10_000
/** One batch of about 10 kB for each of the times. */
function batches(owner: number, times: readonly number[], path = 'a'): MessageBatch[] {
  const chain = { ...chainOf(), streamId: streamOf(owner, path) }
  return times.map((time) => batchOf(chain, [at(time)], contentBytes))
}
const times = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i)

describe('DiskQuota', () => {
  const caps = { maxBytes: 1_000_000, maxBytesPerStream: 600_000 }
  let own: TestStore
  let quota: DiskQuota

  beforeEach(async () => {
    own = await openTestStore()
    quota = new DiskQuota(caps, own)
  })
  afterEach(() => own.remove())

  const usage = async () => new Map((await own.store.usage()).map((one) => [one.streamPartId, one] as const))
  const total = async () => [...(await usage()).values()].reduce((sum, { bytes }) => sum + bytes, 0)
  const addOneByOne = async (added: readonly MessageBatch[]) => {
    for (const batch of added) {
      await quota.append([batch])
      expect(await total()).toBeLessThanOrEqual(caps.maxBytes)
    }
  }

  it('keeps a stream within its cap: its oldest go, and it is known from when on it is kept', async () => {
    await addOneByOne(batches(1, times(1, 100)))
    const { bytes, oldestMs, newestMs } = (await usage()).get(partOf(1)) ?? {}
    expect(bytes).toBeLessThanOrEqual(caps.maxBytesPerStream)
    expect(bytes).toBeGreaterThan(0.9 * caps.maxBytesPerStream)
    expect(newestMs).toBe(100)
    expect(await quota.goneBeforeMs(partOf(1))).toBe(oldestMs)
    expect(oldestMs).toBeGreaterThan(1)
    expect(quota.status().evictedBatches).toBe((oldestMs ?? 0) - 1)
    expect(quota.status().storedBytes).toBe(bytes)
    expect(await quota.goneBeforeMs(partOf(2))).toBe(0)
  })

  it('takes from the owner with the most, and nothing from those with little', async () => {
    await addOneByOne(batches(1, times(1, 10)))
    const greedy = ['a', 'b', 'c'].flatMap((path) => batches(2, times(1, 55), path))
    await addOneByOne(greedy)
    expect((await usage()).get(partOf(1))).toMatchObject({ batches: 10 })
    expect(await quota.goneBeforeMs(partOf(1))).toBe(0)
    await addOneByOne(batches(1, times(100, 10)))
    expect((await usage()).get(partOf(1))).toMatchObject({ batches: 20 })
  })

  it('counts right after a restart, and knows what was gone', async () => {
    await addOneByOne(batches(1, times(1, 70)))
    const gone = await quota.goneBeforeMs(partOf(1))
    const before = await total()
    quota = new DiskQuota(caps, own)
    expect(await quota.goneBeforeMs(partOf(1))).toBe(gone)
    await quota.append(batches(1, [71]))
    expect(quota.status().storedBytes).toBe(await total())
    expect(await total()).toBeGreaterThan(before)
    await addOneByOne(batches(2, times(1, 59)))
    expect(await total()).toBeLessThanOrEqual(caps.maxBytes)
  })

  it('deletes nothing for batches that are there already', async () => {
    const stored = batches(1, times(1, 55))
    await addOneByOne(stored)
    for (let i = 0; i < 5; i++) await addOneByOne(stored)
    expect((await usage()).get(partOf(1))).toMatchObject({ batches: 55 })
    expect(quota.status().evictedBatches).toBe(0)
  })

  it('keeps within the caps what comes from several sides at once', async () => {
    const added = [1, 2, 3].map((owner) => batches(owner, times(1, 60)))
    await Promise.all(
      added.map(async (ofOne) => {
        for (let i = 0; i < ofOne.length; i += 5) await quota.append(ofOne.slice(i, i + 5))
      }),
    )
    expect(await total()).toBeLessThanOrEqual(caps.maxBytes)
    const left = [...(await usage()).entries()] as [StreamPartId, { bytes: number }][]
    for (const [, { bytes }] of left) expect(bytes).toBeGreaterThan(200_000)
  })
})
