import type { StreamInfo } from '@runnel/client'
import { toStreamId, toStreamPartId, type StreamId } from '@runnel/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { nodeError } from '../../errors.ts'
import { clientError } from '../../client-error.ts'
import { KeptParts } from './kept-parts.ts'
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
  let reads: number

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
    reads = 0
  })

  const createKept = (maxStreamParts = 10) =>
    new KeptParts(
      { maxStreamParts, limits: storageLimits },
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
            const count = partitions.get(toStreamId(id))
            if (count === undefined) throw clientError('STREAM_NOT_FOUND', id)
            return { id: toStreamId(id), partitions: count, metadata: '', trackers: [], createdMs: 0 }
          },
          joinStreamPart: async (id, partition) => {
            const key = `${id}#${partition}`
            expect(joined.has(key)).toBe(false)
            joined.add(key)
            return () => joined.delete(key)
          },
        },
        network: { offerStorage: (id, storing) => offered.set(id, storing) },
        events: {
          joined: (id) => said.push(`joined ${id}`),
          left: (id) => said.push(`left ${id}`),
          tooMany: (ignored) => said.push(`ignored ${ignored}`),
          failed: () => said.push('failed'),
        },
      },
    )

  it('joins every partition of what is assigned, and tells the trackers', async () => {
    const kept = createKept()
    await kept.refresh()
    expect(kept.ids).toEqual([part('a', 0), part('a', 1)])
    expect([...joined]).toEqual(kept.ids)
    expect([...offered]).toEqual(kept.ids.map((id) => [id, true]))
  })

  it('follows assignments, and streams that are recreated with another number of partitions or deleted', async () => {
    const kept = createKept()
    await kept.refresh()
    assigned = [streamOf('a'), streamOf('b')]
    partitions.set(streamOf('a'), 1)
    await kept.refresh()
    expect(kept.ids).toEqual([part('a', 0), part('b')])
    expect(offered.get(part('a', 1))).toBe(false)
    partitions.delete(streamOf('a'))
    await kept.refresh()
    expect([...joined]).toEqual([part('b')])
    expect(said.slice(2)).toEqual([`left ${part('a', 1)}`, `joined ${part('b')}`, `left ${part('a', 0)}`])
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
    failure = nodeError('INTERNAL')
    await kept.refresh()
    expect(said.at(-1)).toBe('failed')
    expect(kept.ids).toHaveLength(2)
    failure = undefined
    assigned = []
    clock.pass(storageLimits.minRegistryBackoffMs)
    await until(() => kept.ids.length === 0)
  })

  it('keeps no more than it may', async () => {
    const kept = createKept(1)
    await kept.refresh()
    await kept.refresh()
    expect(kept.ids).toEqual([part('a', 0)])
    expect(kept.ignored).toBe(1)
    expect(said.filter((text) => text.startsWith('ignored'))).toEqual(['ignored 1'])
  })

  it('leaves everything in the end', async () => {
    const kept = createKept()
    await kept.refresh()
    await kept.stop()
    await kept.refresh()
    await turns()
    expect([...joined]).toEqual([])
    expect([...offered.values()]).toEqual([false, false])
  })
})
