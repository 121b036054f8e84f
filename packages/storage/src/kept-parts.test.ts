import type { StreamInfo } from '@runnel/client'
import { keyPartition, toStreamId, toStreamPartId, type StreamId, type StreamPartId } from '@runnel/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { storageError } from './errors.ts'
import { clientError } from '@runnel/client'
import { KeptParts } from './kept-parts.ts'
import type { OwnerLists } from './share-out.ts'
import { storageLimits } from './storage-limits.ts'
import { TestClock, turns, until } from './storage.testkit.ts'
import { nodeId, owner } from './store/batches.testkit.ts'

const streamOf = (path: string) => toStreamId(`${owner}/${path}`)
const part = (path: string, partition = 0) => toStreamPartId(streamOf(path), partition)

describe('KeptParts', () => {
  const clock = new TestClock()
  let assigned: StreamId[]
  let partitions: Map<StreamId, number>
  let joined: Set<string>
  let offered: Map<string, boolean>
  let said: string[]
  let failure: Error | undefined
  let unreadable: StreamId | undefined
  let reads: number
  let remembered: readonly StreamPartId[]
  let onRelease: () => void
  let onOffer: () => void

  beforeEach(() => {
    assigned = [streamOf('a')]
    partitions = new Map([
      [streamOf('a'), 2],
      [streamOf('b'), 1],
    ])
    joined = new Set()
    offered = new Map()
    said = []
    failure = undefined
    unreadable = undefined
    reads = 0
    remembered = []
    onRelease = onOffer = () => {}
  })

  const createKept = (maxStreamParts = 10, owners: Partial<OwnerLists> = {}) =>
    new KeptParts(
      { maxStreamParts, owners: { allow: [], deny: [], ...owners }, limits: storageLimits },
      {
        clock,
        client: {
          nodeId: nodeId(5),
          streamsStoredBy: async (id) => {
            expect(id).toBe(nodeId(5))
            reads++
            if (failure) throw failure
            return assigned
          },
          getStream: async (id): Promise<StreamInfo> => {
            if (id === unreadable) throw new Error('no text')
            const count = partitions.get(toStreamId(id))
            if (count === undefined) throw clientError('STREAM_NOT_FOUND', id)
            return { id: toStreamId(id), partitions: count, metadata: '', trackers: [], createdMs: 0 }
          },
          joinStreamPart: async (id, partition, options) => {
            expect(options).toEqual({ lookBackMs: storageLimits.lookBackMs })
            const key = `${id}#${partition}`
            expect(joined.has(key)).toBe(false)
            joined.add(key)
            return () => {
              onRelease()
              joined.delete(key)
            }
          },
        },
        memory: {
          load: async () => remembered,
          save: (ids) => (remembered = ids),
        },
        network: {
          offerStorage: (id, storing) => {
            offered.set(id, storing)
            onOffer()
          },
        },
        events: {
          joined: (id) => said.push(`joined ${id}`),
          left: (id) => said.push(`left ${id}`),
          tooMany: (ignored, owners) => said.push(`ignored ${ignored} of ${owners.join(', ')}`),
          unwelcome: (streams) => said.push(`unwelcome ${streams}`),
          failed: () => said.push('failed'),
        },
      },
    )

  it('joins every partition of what is assigned, and tells the trackers', async () => {
    const kept = createKept()
    await kept.refresh()
    expect(kept.ids).toEqual([part('a', 0), part('a', 1)])
    expect([...joined]).toEqual([...kept.ids, part('a', keyPartition)])
    expect([...offered]).toEqual([...joined].map((id) => [id, true]))
  })

  it('follows assignments, and streams that are recreated with another number of partitions or deleted', async () => {
    const kept = createKept()
    await kept.refresh()
    assigned = [streamOf('a'), streamOf('b')]
    partitions.set(streamOf('a'), 1)
    await kept.refresh()
    expect(kept.ids).toEqual([part('a', 0), part('b')])
    expect(offered.get(part('a', 1))).toBe(false)
    onRelease = () => expect(kept.ids).toEqual([part('b')])
    partitions.delete(streamOf('a'))
    await kept.refresh()
    expect([...joined]).toEqual([part('b'), part('b', keyPartition)])
    expect(said.slice(3)).toEqual([
      `left ${part('a', 1)}`,
      ...[`joined ${part('b')}`, `joined ${part('b', keyPartition)}`],
      ...[`left ${part('a', 0)}`, `left ${part('a', keyPartition)}`],
    ])
  })

  it('keeps the key part of each stream that it keeps, whatever room there is, and of no other', async () => {
    assigned = [streamOf('a'), streamOf('b')]
    const kept = createKept(2)
    await kept.refresh()
    expect(kept.ids).toEqual([part('a', 0), part('a', 1)])
    expect(kept.has(part('a', keyPartition))).toBe(true)
    expect(kept.has(part('b', keyPartition))).toBe(false)
    expect(kept.isRefused(part('b', keyPartition))).toBe(true)
  })

  it('gives up no stream part before it knows that it is not to keep it', async () => {
    const kept = createKept()
    const ids = [part('a', 0), part('a', 1), part('a', keyPartition), part('b')]
    const givenUp = () => ids.filter((id) => kept.isGivenUp(id))
    failure = clientError('CHAIN_UNREACHABLE', 'test')
    await kept.refresh()
    expect(givenUp()).toEqual([])
    failure = undefined
    const seen: StreamPartId[][] = []
    onOffer = () => seen.push(givenUp())
    await kept.refresh()
    expect(seen).toEqual([[part('b')], [part('b')], [part('b')]])
    assigned = [streamOf('b')]
    await kept.refresh()
    expect(givenUp()).toEqual(ids.slice(0, 3))
  })

  it('reads once more when something changed while it read', async () => {
    const kept = createKept()
    const first = kept.refresh()
    assigned = [streamOf('b')]
    await Promise.all([first, kept.refresh(), kept.refresh()])
    expect(reads).toBe(2)
    expect(kept.ids).toEqual([part('b')])
  })

  it('keeps what it has while the registry cannot be read, and tries again', async () => {
    const kept = createKept()
    await kept.refresh()
    failure = storageError('INTERNAL')
    await kept.refresh()
    expect(said.at(-1)).toBe('failed')
    expect(kept.ids).toHaveLength(2)
    failure = undefined
    assigned = []
    clock.pass(storageLimits.minRegistryBackoffMs)
    await until(() => kept.ids.length === 0)
  })

  it('joins the others when one stream cannot be read, keeps what it has of that one, and tries again', async () => {
    const kept = createKept()
    await kept.refresh()
    assigned = [streamOf('a'), streamOf('b')]
    unreadable = streamOf('a')
    await kept.refresh()
    expect(kept.ids).toEqual([part('a', 0), part('a', 1), part('b')])
    expect(said.at(-1)).toBe('failed')
    unreadable = undefined
    partitions.set(streamOf('a'), 3)
    clock.pass(storageLimits.minRegistryBackoffMs)
    await until(() => kept.ids.length === 4)
  })

  it('keeps no more than it may', async () => {
    const kept = createKept(1)
    await kept.refresh()
    await kept.refresh()
    expect(kept.ids).toEqual([part('a', 0)])
    expect(kept.ignored).toBe(1)
    expect(said.filter((text) => text.startsWith('ignored'))).toEqual([`ignored 1 of ${owner}`])
  })

  describe('shared by several owners', () => {
    const [low, high] = [nodeId(0), nodeId(250)]
    const assign = (by: string, count: number, parts = 1) => {
      for (let i = 0; i < count; i++) {
        const id = toStreamId(`${by}/${i}`)
        assigned.push(id)
        partitions.set(id, parts)
      }
      assigned.sort()
    }
    const keptOf = (kept: KeptParts, by: string) => kept.ids.filter((id) => id.startsWith(by)).length

    it('keeps what it keeps, however much others assign', async () => {
      assigned = []
      assign(high, 3)
      const kept = createKept(10)
      await kept.refresh()
      expect(keptOf(kept, high)).toBe(3)
      assign(low, 10, 100)
      await kept.refresh()
      expect(keptOf(kept, high)).toBe(3)
      expect(keptOf(kept, low)).toBe(7)
      expect(said.filter((text) => text.startsWith('left'))).toEqual([])
      // Nine streams are not even looked at.
      expect(said).toContain(`ignored ${kept.ignored} of ${low}`)
      expect(kept.isRefused(toStreamPartId(toStreamId(`${low}/9`), 0))).toBe(true)
      expect(kept.isRefused(toStreamPartId(toStreamId(`${high}/0`), 0))).toBe(false)
    })

    it('has room for a newcomer where one owner has all of it, and takes the last from that one', async () => {
      assigned = []
      assign(low, 20)
      const kept = createKept(10)
      await kept.refresh()
      const before = kept.ids
      assign(high, 2)
      await kept.refresh()
      expect(keptOf(kept, high)).toBe(2)
      expect(kept.ids.filter((id) => id.startsWith(low))).toEqual(before.slice(0, 8))
    })

    it('keeps after a restart what it kept before', async () => {
      assigned = []
      assign(high, 5)
      const first = createKept(5)
      await first.refresh()
      const before = first.ids
      await first.stop()
      assign(low, 5)
      assign(nodeId(1), 5)
      const again = createKept(6)
      await again.refresh()
      expect([keptOf(again, high), keptOf(again, low), keptOf(again, nodeId(1))]).toEqual([2, 2, 2])
      expect(again.ids.filter((id) => id.startsWith(high))).toEqual(before.slice(0, 2))
      const kept = again.ids
      await again.stop()
      const third = createKept(6)
      await third.refresh()
      expect(third.ids).toEqual(kept)
    })

    it('keeps no streams of owners that are denied, and where some are allowed none of others', async () => {
      assigned = []
      assign(low, 2)
      assign(high, 2)
      const denying = createKept(10, { deny: [low.toUpperCase().replace('0X', '0x')] })
      await denying.refresh()
      expect([keptOf(denying, low), keptOf(denying, high), denying.unwelcome]).toEqual([0, 2, 2])
      expect(said).toContain('unwelcome 2')
      expect(denying.isRefused(toStreamPartId(toStreamId(`${low}/0`), 0))).toBe(true)
      await denying.stop()
      const allowing = createKept(10, { allow: [low], deny: [high] })
      await allowing.refresh()
      expect([keptOf(allowing, low), keptOf(allowing, high)]).toEqual([2, 0])
    })
  })

  it('leaves everything in the end', async () => {
    const kept = createKept()
    await kept.refresh()
    await kept.stop()
    await kept.refresh()
    await turns()
    expect([...joined]).toEqual([])
    expect([...offered.values()]).toEqual([false, false, false])
  })
})
