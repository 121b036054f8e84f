import { packetBytes } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { testModules } from '../conformance/modules.testkit.ts'
import { Recorder } from '../conformance/recorder.testkit.ts'
import type { ConnectionLimits } from '../connection/limits.ts'
import type { Connection } from '../ports.ts'
import { MemoryNetwork } from './memory-network.ts'
import type { MemoryNetworkOptions } from './memory-options.ts'
import type { MemoryTransport } from './memory-transport.ts'
import { VirtualClock } from './virtual-clock.ts'

class World {
  readonly clock = new VirtualClock()
  readonly network: MemoryNetwork

  constructor(options: Omit<MemoryNetworkOptions, 'seed'>, seed = 1) {
    this.network = new MemoryNetwork({ seed, ...options }, { clock: this.clock })
  }

  node(name: string, limits: Partial<ConnectionLimits> = {}): MemoryTransport {
    const transport = this.network.transport({ role: 'node' }, testModules(name, this.clock, limits))
    void transport.start()
    return transport
  }

  /** What came of a dial within `ms`. */
  dial(from: MemoryTransport, to: MemoryTransport, ms = 1000): Connection | string {
    let result: Connection | string = 'nothing'
    from.dial({
      peerId: to.nodeId,
      onOpen: (opened) => (result = opened),
      onFail: ({ code }) => (result = code),
    })
    this.clock.advanceBy(ms)
    return result
  }

  link(from: MemoryTransport, to: MemoryTransport): [Recorder, Recorder] {
    let inbound: Recorder | undefined
    to.onInbound = (connection) => (inbound = new Recorder(connection))
    const outbound = this.dial(from, to)
    if (typeof outbound === 'string' || inbound === undefined) throw new Error(`no link: ${String(outbound)}`)
    return [new Recorder(outbound), inbound]
  }
}

const packet = (i: number, size = 10): Uint8Array => packetBytes(0x10, new Uint8Array(size).fill(i))
const firsts = (recorder: Recorder): number[] => recorder.packets.map(({ body }) => body[0] as number)

describe('MemoryNetwork', () => {
  it('takes the latency of each link and direction, and the round-trip time shows it', () => {
    const world = new World({ latencyMs: (from, to) => (from < to ? 10 : 30) })
    const [a, b] = world.link(world.node('a'), world.node('b'))
    expect([a.connection.rttMs, b.connection.rttMs]).toEqual([40, 40])
  })

  it('keeps the order under jitter, and is the same for the same seed', () => {
    const run = (seed: number): [number[], number[]] => {
      const world = new World({ latencyMs: 5, jitterMs: 50 }, seed)
      const [a, b] = world.link(world.node('a'), world.node('b'))
      const arrivals: number[] = []
      const { onPacket } = b.connection.events
      b.connection.events.onPacket = (...args) => {
        arrivals.push(world.clock.monotonicMs())
        onPacket(...args)
      }
      for (let i = 0; i < 100; i++) {
        a.connection.send(packet(i))
        world.clock.advanceBy(1)
      }
      world.clock.advanceBy(100)
      return [firsts(b), arrivals]
    }
    const [order, arrivals] = run(1)
    expect(order).toEqual(Array.from({ length: 100 }, (_, i) => i))
    expect(run(1)[1]).toEqual(arrivals)
    expect(run(2)[1]).not.toEqual(arrivals)
  })

  it('does to a link what it does whatever other nodes there are', () => {
    const rttMs = (others: string[]): number | undefined => {
      const world = new World({ latencyMs: 5, jitterMs: 20 })
      const [a, b] = [world.node('a'), world.node('b')]
      for (const name of others) world.link(a, world.node(name))
      return world.link(a, b)[0].connection.rttMs?.toFixed(6) as unknown as number
    }
    expect(rttMs(['c', 'd'])).toBe(rttMs([]))
  })

  it('loses whole frames at the given rate, and keeps the order of the rest', () => {
    const world = new World({ latencyMs: 5, lossRate: 0.2 })
    let link: [Recorder, Recorder] | undefined
    // A handshake may lose a frame as well.
    for (let attempt = 0; link === undefined; attempt++) {
      try {
        link = world.link(world.node(`a${attempt}`, { pingIntervalMs: 60_000 }), world.node(`b${attempt}`))
      } catch {
        expect(attempt).toBeLessThan(20)
      }
    }
    for (let i = 0; i < 200; i++) {
      link[0].connection.send(packet(i))
      world.clock.advanceBy(1)
    }
    world.clock.advanceBy(100)
    const got = firsts(link[1])
    expect(got.length).toBeGreaterThan(130)
    expect(got.length).toBeLessThan(185)
    expect(got).toEqual(got.toSorted((x, y) => x - y))
  })

  it('loses only what the function says, from the moment it says so', () => {
    const lossy = new Set<string>()
    const world = new World({ latencyMs: 5, lossRate: (from, to) => (lossy.has(`${from} ${to}`) ? 1 : 0) })
    const [a, b, c] = [world.node('a'), world.node('b'), world.node('c')]
    const [ab, ac] = [world.link(a, b), world.link(a, c)]
    lossy.add(`${a.nodeId} ${b.nodeId}`)
    for (const recorder of [...ab, ...ac]) recorder.connection.send(packet(1))
    world.clock.advanceBy(100)
    expect([ab, ac].map(([out, back]) => [firsts(out), firsts(back)])).toEqual([
      [[1], []],
      [[1], [1]],
    ])
    lossy.clear()
    ab[0].connection.send(packet(2))
    world.clock.advanceBy(100)
    expect(firsts(ab[1])).toEqual([2])
  })

  it('fails dials at the given rate', () => {
    const world = new World({ connectFailureRate: 0.5 })
    const target = world.node('target')
    const results = Array.from({ length: 40 }, (_, i) => world.dial(world.node(`n${i}`), target))
    const failed = results.filter((result) => result === 'DIAL_FAILED').length
    expect(failed).toBeGreaterThan(8)
    expect(failed).toBeLessThan(32)
    expect(results.filter((result) => typeof result === 'string').length).toBe(failed)
  })

  it('lets a dial to an offline node hang until its time is over', () => {
    const world = new World({})
    const [a, b] = [world.node('a'), world.node('b')]
    world.network.setOnline(b.nodeId, false)
    expect(world.dial(a, b, 14_000)).toBe('nothing')
    expect(world.dial(a, b, 16_000)).toBe('DIAL_TIMEOUT')
    world.network.setOnline(b.nodeId, true)
    expect(world.dial(a, b)).toMatchObject({ peerId: b.nodeId })
  })

  it('carries no more than its bandwidth', () => {
    const world = new World({ latencyMs: 1, bytesPerMs: 100, windowBytes: 2000 })
    const [a, b] = world.link(world.node('a'), world.node('b'))
    for (let i = 0; i < 100; i++) {
      a.connection.send(packet(i, 997))
      // A frame for each: the next instant is another turn.
      world.clock.advanceBy(0)
    }
    world.clock.advanceBy(501)
    expect(b.packets.length).toBeLessThanOrEqual(50)
    expect(a.connection.queuedBytes).toBeGreaterThan(0)
    world.clock.advanceBy(550)
    expect(b.packets.length).toBe(100)
  })
})
