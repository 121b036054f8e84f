import { describe, expect, it } from 'vitest'
import { defaultTrackerLimits } from '../limits.ts'
import { ProximityWorld, shuffled, squareTable } from './proximity.testkit.ts'
import { partA, TrackerStory, nodeId } from './tracker-core.testkit.ts'
import { faultsOf } from './topology/topology.testkit.ts'

const table = squareTable(16)

describe('a topology-aware overlay', () => {
  it('comes near the direct delay, by what nodes can measure, and then rests', () => {
    const world = new ProximityWorld({ nodes: 320, table })
    const random = new ProximityWorld({ nodes: 320, table, overlay: 'random' })
    random.run(10_000)
    expect(random.rdp()).toBeGreaterThan(2.5)
    world.run(300_000)
    expect(world.rdp()).toBeLessThan(1.25)
    expect(faultsOf(world.topology, 4)).toEqual([])
    for (const id of world.topology.nodes()) expect(world.randomEdges(id)).toBeGreaterThan(0)
    const before = world.newNeighbours
    world.run(60_000)
    expect((world.newNeighbours - before) / 320).toBeLessThan(0.5)
  })

  it('more than halves the delay also where every node has a last mile', () => {
    const world = new ProximityWorld({ nodes: 320, table, lastMileMs: 10 })
    const random = new ProximityWorld({ nodes: 320, table, lastMileMs: 10, overlay: 'random' })
    world.run(300_000)
    random.run(10_000)
    expect(world.rdp()).toBeLessThan(0.485 * random.rdp())
  })

  it('gives no node more new neighbours than the limit, save for those that come and go', () => {
    const world = new ProximityWorld({ nodes: 160, table })
    world.run(60_000)
    const { exchangeBurst, exchangesPerSecond } = defaultTrackerLimits
    const exchanges = 2 * world.story.core.counters.get('edgesExchanged')
    expect(exchanges / 160).toBeGreaterThan(4)
    expect(exchanges / 160).toBeLessThan(exchangeBurst + 60 * exchangesPerSecond)
  })

  it('gives nodes exchanges back for neighbours that left, and no more than they have at first', () => {
    const exchangeBurst = 4
    const limits = { exchangeBurst, exchangesPerSecond: 1e-9 }
    const world = new ProximityWorld({ nodes: 320, table, limits })
    const exchanged = () => world.story.core.counters.get('edgesExchanged')
    world.run(60_000)
    const before = exchanged()
    world.run(60_000)
    // All are spent.
    expect(exchanged() - before).toBeLessThan(10)
    for (const id of [...world.places.keys()].slice(0, 160)) world.leave(id)
    world.run(60_000)
    const more = exchanged() - before
    expect(more).toBeGreaterThan(160)
    // Two edges of four nodes each time.
    expect(2 * more).toBeLessThanOrEqual(exchangeBurst * 320)
  })

  it('is right again after a place is lost, and finds its way back', () => {
    const world = new ProximityWorld({ nodes: 320, table })
    world.run(200_000)
    const before = world.rdp()
    for (const id of [...world.places.keys()]) if (world.regionOf(id) === 3) world.leave(id)
    expect(faultsOf(world.topology, 4)).toEqual([])
    world.run(200_000)
    expect(world.rdp()).toBeLessThan(before + 0.1)
  })

  it('keeps nearly all of itself, random edges too, after the tracker has forgotten all', () => {
    const world = new ProximityWorld({ nodes: 320, table })
    world.run(200_000)
    const before = world.rdp()
    const edges = new Set([...world.topology.edges()].map(([a, b]) => (a < b ? a + b : b + a)))
    world.restartTracker()
    world.run(300_000)
    const kept = [...world.topology.edges()].filter(([a, b]) => edges.has(a < b ? a + b : b + a))
    expect(kept.length).toBeGreaterThan(0.85 * edges.size)
    for (const id of world.topology.nodes()) expect(world.randomEdges(id)).toBeGreaterThan(0)
    expect(world.rdp()).toBeLessThan(before + 0.1)
  })

  it('finds its way also when the overlay that is taken over was a random one', () => {
    const world = new ProximityWorld({ nodes: 320, table })
    world.run(500)
    const before = world.rdp()
    world.restartTracker()
    world.run(300_000)
    expect(world.rdp()).toBeLessThan(before / 2)
  })

  it('lets liars choose no neighbours: who says all are near gets no more near edges to its victim than others', () => {
    const world = new ProximityWorld({ nodes: 320, table })
    const victim = nodeId(1)
    // Far from the victim, and they say they are next to everybody; what honest nodes measure is true.
    const far = (id: ReturnType<typeof nodeId>) => world.oneWayMs(id, victim) > 40
    const liars = new Set(shuffled([...world.places.keys()].filter(far), { next: () => 0.5 }).slice(0, 60))
    world.claim = (from, _to, measuredMs) => (liars.has(from) ? 0.1 : measuredMs)
    world.run(200_000)
    expect(world.story.core.counters.get('rttsDisputed')).toBeGreaterThan(0)
    let held = 0
    for (let minute = 0; minute < 10; minute++) {
      world.run(60_000)
      held += [...world.topology.neighbours(victim)].filter((id) => liars.has(id)).length
    }
    // Its random edges may end at liars, as at anybody; its near ones do not.
    expect(held / 10).toBeLessThanOrEqual(2)
    expect(world.rdp()).toBeLessThan(1.5)
  })
})

describe('the overlays of a tracker', () => {
  it('are random unless it is told otherwise, for all stream parts or for some', () => {
    const overlayOf = (options: ConstructorParameters<typeof TrackerStory>[0] = {}) => {
      const story = new TrackerStory(options)
      story.join(nodeId(1))
      return story.core.streamParts.get(partA)?.kind.strategy
    }
    expect(overlayOf()).toBe('random')
    expect(overlayOf({ overlay: 'topology-aware' })).toBe('topology-aware')
    expect(overlayOf({ overlay: (id) => (id === partA ? 'topology-aware' : 'random') })).toBe(
      'topology-aware',
    )
    expect(overlayOf({ overlay: (id) => (id === partA ? 'random' : 'topology-aware') })).toBe('random')
  })

  it('are improved in turn, and a tracker without topology-aware ones does nothing', () => {
    const idle = new TrackerStory()
    idle.join(nodeId(1))
    idle.packet(nodeId(1), { type: 'leave', streamPartId: partA })
    idle.advance(130_000)
    expect(idle.core.dueMs).toBe(Infinity)
    const aware = new TrackerStory({ overlay: 'topology-aware' })
    aware.join(nodeId(1))
    expect(aware.core.dueMs).toBeLessThanOrEqual(aware.now + defaultTrackerLimits.improvementIntervalMs)
    aware.packet(nodeId(1), { type: 'leave', streamPartId: partA })
    aware.advance(130_000)
    expect(aware.core.dueMs).toBe(Infinity)
  })
})
