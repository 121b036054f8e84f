import type { StreamInfo } from '@runnel/client'
import { seededRandom, toStreamId, type Random, type StreamId, type StreamPartId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { KeptParts } from './kept-parts.ts'
import { storageLimits } from './storage-limits.ts'
import { TestClock } from './storage.testkit.ts'
import { nodeId } from './store/batches.testkit.ts'

const seeds = Array.from({ length: 60 }, (_, i) => i + 1)
const maxStreamParts = 24
const steps = 12

/** What a registry says is assigned, as its owners have it; owners with low addresses are listed first. */
class Assignments {
  readonly partitions = new Map<StreamId, number>()
  #made = 0

  /** Streams of an owner with so many partitions each. */
  assign(owner: string, streams: number, partitions: number): void {
    for (let i = 0; i < streams; i++) this.partitions.set(toStreamId(`${owner}/${this.#made++}`), partitions)
  }

  removeOne(owner: string): void {
    const [id] = [...this.partitions.keys()].filter((each) => each.startsWith(owner))
    if (id !== undefined) this.partitions.delete(id)
  }

  partsOf(owner: string): number {
    let parts = 0
    for (const [id, count] of this.partitions) if (id.startsWith(owner)) parts += count
    return parts
  }
}

function keptOf(assignments: Assignments, left: StreamPartId[]): KeptParts {
  let remembered: readonly StreamPartId[] = []
  const options = { maxStreamParts, owners: { allow: [], deny: [] }, limits: storageLimits }
  const modules = {
    clock: new TestClock(),
    client: {
      nodeId: nodeId(5),
      streamsStoredBy: async () => [...assignments.partitions.keys()].sort(),
      getStream: async (id: string): Promise<StreamInfo> => {
        const streamId = toStreamId(id)
        const partitions = assignments.partitions.get(streamId) ?? 1
        return { id: streamId, partitions, metadata: '', trackers: [], createdMs: 0 }
      },
      joinStreamPart: async () => () => {},
    },
    memory: {
      load: async () => remembered,
      save: (ids: readonly StreamPartId[]) => (remembered = ids),
    },
    network: { offerStorage: () => {} },
    events: {
      joined: () => {},
      left: (id: StreamPartId) => left.push(id),
      tooMany: () => {},
      unwelcome: () => {},
      failed: (error: unknown) => {
        throw error
      },
    },
  }
  return new KeptParts(options, modules)
}

/** Two honest owners, up to three that assign as much as they can pay for, and what goes wrong. */
async function faultOf(seed: number): Promise<string | undefined> {
  const random = seededRandom(`assigners ${seed}`)
  const assignments = new Assignments()
  const left: StreamPartId[] = []
  const kept = keptOf(assignments, left)
  const honest = [nodeId(100 + below(50, random)), nodeId(200)]
  const assigners = Array.from({ length: 1 + below(3, random) }, (_, i) =>
    nodeId(random.next() < 0.5 ? i : 250 - i),
  )
  // Less than each would have if all owners had as much.
  const share = Math.floor(maxStreamParts / (honest.length + assigners.length)) - 1
  for (let step = 0; step < steps; step++) {
    const owner = honest[below(honest.length, random)] as string
    if (random.next() < 0.4 && assignments.partsOf(owner) < share) assignments.assign(owner, 1, 1)
    const assigner = assigners[below(assigners.length, random)] as string
    if (random.next() < 0.7) assignments.assign(assigner, 1 + below(10, random), 1 + below(30, random))
    else assignments.removeOne(assigner)
    await kept.refresh()
    if (kept.ids.length > maxStreamParts) return `step ${step}: ${kept.ids.length} stream parts are kept`
    for (const each of honest) {
      const here = kept.ids.filter((id) => id.startsWith(each)).length
      const wanted = assignments.partsOf(each)
      if (here < wanted) return `step ${step}: ${here} of ${wanted} stream parts of an honest owner are kept`
    }
    const lost = left.find((id) => honest.some((each) => id.startsWith(each)))
    if (lost !== undefined) return `step ${step}: ${lost} was left`
  }
  return undefined
}

function below(end: number, random: Random): number {
  return Math.floor(random.next() * end)
}

describe('a storage node to which somebody assigns more than it takes', () => {
  it('keeps what others assign to it', { timeout: 60_000 }, async () => {
    const faults: string[] = []
    for (const seed of seeds) {
      const fault = await faultOf(seed)
      if (fault !== undefined) faults.push(`seed ${seed}, ${fault}`)
    }
    expect(faults).toEqual([])
  })
})
