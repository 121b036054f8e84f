import { seededRandom, type Random, type Status, type StreamPartId } from '@runnel/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defaultTrackerLimits } from '../limits.ts'
import { Replica } from './replica.ts'
import { TrackerCore, type TrackerEffect } from './tracker-core.ts'
import {
  instructions,
  nodeId,
  partA,
  partB,
  statusOf,
  storing,
  webrtcContact,
} from './tracker-core.testkit.ts'
import type { NodeToTracker, TrackerEvent, TrackerFault } from './tracker-events.ts'

const { minFaultRestMs, maxFaultRestMs } = defaultTrackerLimits

/** What can be made to throw in the stream part A. */
type Port = 'random' | 'onTouched' | 'status'

/** A tracker of nodes that do as they are told, in two stream parts. */
class Story {
  readonly broken = new Set<Port>()
  readonly faults: TrackerFault[] = []
  now = 1_000
  readonly core: TrackerCore
  /** What each node was told last, by node and stream part. */
  readonly #told = new Map<string, { counter: number; neighbours: readonly ReturnType<typeof nodeId>[] }>()

  constructor(overlay: 'random' | 'topology-aware' = 'random') {
    const random = this.#randomOf(seededRandom('faults'), undefined)
    this.core = new TrackerCore({ degree: 4, limits: defaultTrackerLimits, overlay }, { random })
    this.core.onFault = (fault) => this.faults.push(fault)
    this.core.onTouched = (id) => {
      if (id === partA) this.#mayThrow('onTouched')
    }
  }

  #mayThrow(port: Port): void {
    if (this.broken.has(port)) throw new Error(`${port} is broken`)
  }

  #randomOf(random: Random, label: string | undefined): Random {
    return {
      next: () => {
        if (label === partA) this.#mayThrow('random')
        return random.next()
      },
      bytes: (length) => random.bytes(length),
      fork: (name) => this.#randomOf(random.fork(name), label ?? name),
    }
  }

  handle(event: TrackerEvent): TrackerEffect[] {
    const effects = this.core.handle(event, this.now)
    for (const { to, part, counter, neighbours } of instructions(effects))
      this.#told.set(`${to} ${part}`, { counter, neighbours })
    return effects
  }

  packet(n: number, packet: NodeToTracker): TrackerEffect[] {
    return this.handle({ type: 'packet', from: nodeId(n), packet })
  }

  connect(n: number): void {
    this.handle({ type: 'nodeConnected', nodeId: nodeId(n) })
    this.packet(n, { type: 'nodeInfo', contact: webrtcContact })
  }

  /** What the node would report. */
  status(n: number, id: StreamPartId): Status {
    const { counter, neighbours } = this.#told.get(`${nodeId(n)} ${id}`) ?? { counter: 0, neighbours: [] }
    const status = statusOf(id, counter, neighbours)
    if (id !== partA) return status
    const mayThrow = () => this.#mayThrow('status')
    return {
      ...status,
      get neighbours() {
        mayThrow()
        return status.neighbours
      },
    }
  }

  report(n: number, id: StreamPartId): TrackerEffect[] {
    return this.packet(n, this.status(n, id))
  }

  /** Lets time pass; nodes answer their instructions. */
  advance(ms: number): void {
    const end = this.now + ms
    for (let steps = 0; ; steps++) {
      if (steps > 5_000) throw new Error('it spins')
      const at = this.core.dueMs
      if (at > end) break
      this.now = Math.max(at, this.now)
      const told = instructions(this.handle({ type: 'tick' }))
      for (const { to, part } of told) this.report(Number.parseInt(to.slice(-4), 16), part)
    }
    this.now = end
  }

  members(id: StreamPartId): number {
    return this.core.streamParts.get(id)?.members.size ?? 0
  }

  edges(id: StreamPartId): string[] {
    const part = this.core.streamParts.get(id)
    const edges = [...(part?.members.keys() ?? [])].flatMap((a) =>
      [...(part?.topology.neighbours(a) ?? [])].map((b) => [a, b].sort().join(' ')),
    )
    return [...new Set(edges)].sort()
  }
}

const count = 8
const all = Array.from({ length: count }, (_, i) => i + 1)

/** Eight nodes in both stream parts, which are settled. */
function settled(overlay?: 'random' | 'topology-aware'): Story {
  const story = new Story(overlay)
  for (const n of all) {
    story.connect(n)
    for (const id of [partA, partB]) story.report(n, id)
  }
  story.advance(10_000)
  expect([story.members(partA), story.members(partB)]).toEqual([count, count])
  expect(story.faults).toEqual([])
  return story
}

/** The other is what it was, and goes on. */
function expectUnharmed(story: Story, edges: readonly string[]): void {
  expect(story.edges(partB)).toEqual(edges)
  expect(new Set(story.faults.map(({ streamPartId }) => streamPartId))).toEqual(new Set([partA]))
  story.connect(99)
  const told = story.report(99, partB)
  story.advance(1_000)
  expect(told).toBeDefined()
  expect(story.core.streamParts.get(partB)?.topology.neighbours(nodeId(99)).size).toBeGreaterThan(0)
  story.packet(99, { type: 'leave', streamPartId: partB })
}

const failedEdge = (story: Story): Status => {
  const status = story.status(1, partA)
  const [first] = status.neighbours
  return { ...status, failed: first === undefined ? [] : [{ nodeId: first.nodeId, reason: 'lost' }] }
}

const events: Record<string, { ports: Port[]; run: (story: Story) => void }> = {
  'a status': { ports: ['status'], run: (story) => void story.report(1, partA) },
  'a failed edge': {
    ports: ['random', 'onTouched'],
    run: (story) => void story.packet(1, failedEdge(story)),
  },
  'a leave': {
    ports: ['random', 'onTouched'],
    run: (story) => void story.packet(1, { type: 'leave', streamPartId: partA }),
  },
  'a node that is expelled': {
    ports: ['onTouched'],
    run: (story) => void story.handle({ type: 'nodeExpelled', nodeId: nodeId(8) }),
  },
  'a contact that changed': {
    ports: ['onTouched'],
    run: (story) => {
      story.packet(1, {
        type: 'nodeInfo',
        contact: { ...webrtcContact, addresses: [{ kind: 'websocket', text: 'ws://moved' }] },
      })
    },
  },
  'an error elsewhere': {
    ports: [],
    run: (story) => {
      story.handle({ type: 'partFault', streamPartId: partA, error: new Error('elsewhere') })
    },
  },
}

type Case = [name: string, port: Port | undefined, run: (story: Story) => void]
const cases = Object.entries(events).flatMap(([name, { ports, run }]): Case[] =>
  ports.length === 0 ? [[name, undefined, run]] : ports.map((port): Case => [name, port, run]),
)

describe('a fault in the work of a stream part of a tracker', () => {
  it.each(cases)('ends that work only: %s, %s', (_, port, run) => {
    const story = settled()
    const other = story.edges(partB)
    if (port !== undefined) story.broken.add(port)
    run(story)
    story.broken.clear()
    const kept = other.filter((edge) => !edge.includes(nodeId(8)))
    expect(story.faults).toHaveLength(1)
    expect(story.core.counters.get('streamPartFaults')).toBe(1)
    expect(story.members(partA)).toBe(0)
    for (const edge of kept) expect(story.edges(partB)).toContain(edge)
    story.advance(minFaultRestMs)
    // The one whose status it was says by itself that it is there.
    story.report(1, partA)
    story.advance(20_000)
    expect(story.members(partA)).toBeGreaterThanOrEqual(count - 1)
    expect(story.faults).toHaveLength(1)
  })

  it('is over when its rest is, and the overlay is what it was', () => {
    const story = settled()
    const [before, other] = [story.edges(partA), story.edges(partB)]
    story.handle({ type: 'partFault', streamPartId: partA, error: new Error('a fault') })
    expect(story.members(partA)).toBe(0)
    story.advance(minFaultRestMs)
    expect(story.edges(partA)).toEqual(before)
    story.advance(20_000)
    expect(story.edges(partA)).toEqual(before)
    expectUnharmed(story, other)
  })

  it('builds it anew from what its nodes say, whatever an older replica says', () => {
    const story = settled()
    const nodes = all.map((n) => {
      const neighbours = all.slice(n).map(nodeId)
      return { nodeId: nodeId(n), contact: webrtcContact, neighbours }
    })
    story.core.replicaOf = (id) => (id === partA ? new Replica(nodes) : undefined)
    const before = story.edges(partA)
    story.handle({ type: 'partFault', streamPartId: partA, error: new Error('a fault') })
    story.advance(minFaultRestMs)
    expect(story.edges(partA)).toEqual(before)
    story.advance(20_000)
    expect(story.edges(partA)).toEqual(before)
  })

  it('keeps what nodes say while it rests', () => {
    const story = settled()
    story.packet(3, storing(partA))
    story.handle({ type: 'partFault', streamPartId: partA, error: new Error('a fault') })
    story.connect(20)
    story.report(20, partA)
    story.packet(2, { type: 'leave', streamPartId: partA })
    story.packet(4, storing(partA))
    story.handle({ type: 'nodeExpelled', nodeId: nodeId(5) })
    story.advance(20_000)
    const members = [...(story.core.streamParts.get(partA)?.members.keys() ?? [])]
    expect(members.toSorted()).toEqual([1, 3, 4, 6, 7, 8, 20].map(nodeId).toSorted())
    expect([...story.core.storage.nodes(partA)].toSorted()).toEqual([3, 4].map(nodeId))
  })

  it('in each status costs ever less', () => {
    const story = settled()
    const other = story.edges(partB)
    story.broken.add('status')
    for (let i = 0; i < 300; i++) {
      for (const n of all) story.report(n, partA)
      story.advance(1_000)
    }
    expect(story.faults.length).toBeLessThanOrEqual(12)
    expectUnharmed(story, other)
    story.broken.clear()
    story.advance(maxFaultRestMs)
    for (const n of all) story.report(n, partA)
    story.advance(20_000)
    expect(story.members(partA)).toBe(count)
  })

  it('is handed over when another tracker leads it by then', () => {
    const story = settled()
    story.handle({ type: 'partFault', streamPartId: partA, error: new Error('a fault') })
    expect(story.core.ledParts()).toContain(partA)
    expect(story.core.leads(partA)).toBe(true)
    const told = story.handle({ type: 'handOver', streamPartId: partA, leaderId: nodeId(99) })
    expect(told.filter(({ type }) => type === 'send')).toHaveLength(count)
    expect(story.core.leads(partA)).toBe(false)
    story.advance(20_000)
    expect(story.members(partA)).toBe(0)
  })

  it('in improving an overlay leaves the others alone', () => {
    const story = settled('topology-aware')
    story.broken.add('onTouched')
    story.broken.add('random')
    story.advance(5_000)
    expect(new Set(story.faults.map(({ streamPartId }) => streamPartId))).toEqual(new Set([partA]))
    story.broken.clear()
    story.advance(maxFaultRestMs)
    // Whose statuses were being dealt with report when they notice that they have lost their neighbours.
    for (const n of all) story.report(n, partA)
    expect([story.members(partA), story.members(partB)]).toEqual([count, count])
  })
})

describe('a fault that belongs to no stream part', () => {
  it('ends the connection of the node it was about', () => {
    const story = settled()
    const broken = {
      type: 'nodeInfo',
      get contact(): never {
        throw new Error('no contact')
      },
    } as const
    const effects = story.packet(1, broken)
    expect(effects).toMatchObject([{ type: 'refuse', to: nodeId(1), code: 'TRACKER_FAULT' }])
    expect(story.faults).toEqual([{ nodeId: nodeId(1), error: new Error('no contact') }])
    expect([story.members(partA), story.members(partB)]).toEqual([count, count])
  })

  it('is thrown where nobody hears of it', () => {
    const core = new TrackerCore(
      { degree: 4, limits: defaultTrackerLimits },
      { random: seededRandom('alone') },
    )
    const error = new Error('elsewhere')
    expect(() => core.handle({ type: 'partFault', streamPartId: partA, error }, 0)).toThrow(error)
  })
})

const node = fc.integer({ min: 1, max: count })
const action = fc.oneof(
  fc.record({ kind: fc.constantFrom('report', 'leave', 'fail', 'disconnect', 'connect'), n: node }),
  fc.record({ kind: fc.constant('pass'), n: fc.integer({ min: 1, max: 3_000 }) }),
  fc.record({ kind: fc.constantFrom('break random', 'break onTouched', 'break status', 'repair'), n: node }),
)

it('whatever throws in one stream part, the other loses nobody, and the first is there again', () => {
  fc.assert(
    fc.property(fc.array(action, { minLength: 3, maxLength: 40 }), (actions) => {
      const story = settled()
      for (const { kind, n } of actions) {
        if (kind === 'pass') story.advance(n)
        else if (kind === 'report') story.report(n, partA)
        else if (kind === 'leave') story.packet(n, { type: 'leave', streamPartId: partA })
        else if (kind === 'fail') {
          const isBroken = story.broken.delete('status')
          const status = failedEdge(story)
          if (isBroken) story.broken.add('status')
          story.packet(n, { ...status, streamPartId: partA })
        } else if (kind === 'disconnect') story.handle({ type: 'nodeDisconnected', nodeId: nodeId(n) })
        else if (kind === 'connect') {
          story.connect(n)
          for (const id of [partA, partB]) story.report(n, id)
        } else if (kind === 'repair') story.broken.clear()
        else story.broken.add(kind.slice('break '.length) as Port)
      }
      expect(story.faults.filter(({ streamPartId }) => streamPartId !== partA)).toEqual([])
      story.broken.clear()
      for (const n of all) {
        story.connect(n)
        for (const id of [partA, partB]) story.report(n, id)
      }
      story.advance(2 * maxFaultRestMs)
      for (const n of all) for (const id of [partA, partB]) story.report(n, id)
      story.advance(30_000)
      expect([story.members(partA), story.members(partB)]).toEqual([count, count])
      for (const id of [partA, partB])
        for (const n of all)
          expect(story.core.streamParts.get(id)?.topology.neighbours(nodeId(n)).size).toBeGreaterThan(1)
    }),
    { numRuns: 100 },
  )
})
