import { readPackets, type Clock, type NodeId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { identityOf, partId, Swarm, TestPublisher, type Member } from '../network.testkit.ts'
import type { Trace } from '../ports.ts'
import { eventOfPacket } from '../runtime/node-packets.ts'
import { Tracer } from './tracer.ts'

const names = ['a', 'b', 'c']

/** Three nodes in a triangle whose direct way from a to c takes 100 ms, and that over b 10 and 15. */
function triangle(): Swarm {
  const byName = new Map(names.map((name) => [identityOf(name).nodeId, name]))
  const latencyMs = (from: NodeId, to: NodeId): number => {
    const way = [byName.get(from), byName.get(to)].toSorted().join('')
    return { ab: 10, bc: 15, ac: 100 }[way] ?? 1
  }
  return new Swarm({ latencyMs })
}

/** As on a machine of its own: started at another time, and with a wall clock that is wrong. */
function shifted(clock: Clock, byMs: number): Clock {
  return {
    now: () => clock.now() + byMs / 1000,
    monotonicMs: () => clock.monotonicMs() + byMs,
    schedule: (delayMs, fn) => clock.schedule(delayMs, fn),
    endOfTurn: (fn) => clock.endOfTurn(fn),
  }
}

async function grow(swarm: Swarm, tracing: readonly boolean[]): Promise<Member[]> {
  await swarm.trackerTransport.start()
  const members: Member[] = []
  for (const [i, name] of names.entries()) {
    const options = { tracing: tracing[i] ?? false }
    const member = swarm.make(name, options, undefined, shifted(swarm.clock, [90_000, 0, 40_000][i] ?? 0))
    await member.node.start()
    member.node.join(partId)
    members.push(member)
  }
  swarm.clock.advanceBy(5_000)
  return members
}

function watch({ node }: Member) {
  const seen = { traces: [] as (Trace | undefined)[], duplicates: 0 }
  node.on('batch', (_, __, trace) => seen.traces.push(trace))
  node.on('duplicate', () => seen.duplicates++)
  return seen
}

describe('a node that measures', () => {
  it('knows the age and the hops of a message, whatever the clocks of the others show', async () => {
    const swarm = triangle()
    const members = await grow(swarm, [true, true, true])
    const [atA, atB, atC] = members.map(watch)
    expect(members[1]?.node.metrics().counters['trace.clocks']).toBe(2)

    members[0]?.node.publish(new TestPublisher('a', swarm.clock).next('hello'))
    swarm.clock.advanceBy(1_000)

    expect(atA?.traces).toEqual([{ hops: 0, ageMs: 0 }])
    expect(atB?.traces).toEqual([{ hops: 1, ageMs: 10 }])
    expect(atC?.traces).toEqual([{ hops: 2, ageMs: 25 }])
    // Over the slow way it comes again, to c from a and to a from c.
    expect([atA?.duplicates, atB?.duplicates, atC?.duplicates]).toEqual([1, 0, 1])
    expect(members[2]?.texts()).toEqual(['hello'])
  })

  it('has what it forwards understood by a node that does not, whose messages have no trace', async () => {
    const swarm = triangle()
    const members = await grow(swarm, [true, false, true])
    const [, atB, atC] = members.map(watch)

    members[0]?.node.publish(new TestPublisher('a', swarm.clock).next('hello'))
    swarm.clock.advanceBy(1_000)

    expect(members.map((member) => member.texts())).toEqual([['hello'], ['hello'], ['hello']])
    expect(atB?.traces).toEqual([undefined])
    expect(atC?.traces).toEqual([undefined])
    expect(members[1]?.node.metrics().counters['trace.clocks']).toBe(0)
    expect(members[0]?.node.metrics().counters['links.lost']).toBe(0)
  })

  it('counts the time that a message waits on its way', async () => {
    const swarm = triangle()
    const [sender, receiver] = [tracerOf(swarm.clock), tracerOf(swarm.clock)]
    const batch = new TestPublisher('a', swarm.clock).next('hello')
    const { packet, bytes: body } = batch
    sender.published(batch, packet)
    swarm.clock.advanceBy(700)

    const sent = readPackets(sender.outgoing(packet))[0]
    const event = eventOfPacket(peerId, sent?.type ?? 0, sent?.body ?? body, body, {
      onTraced: (trace, { batch, packet }) => {
        swarm.clock.advanceBy(30)
        receiver.received(peerId, trace, batch, packet)
      },
    })

    expect(event).toMatchObject({ type: 'data', packet })
    // Nothing is known of the other clock yet: half of the link's round-trip time is taken for the way.
    expect('batch' in event && receiver.travelOf(event.batch)).toEqual({ hops: 1, ageMs: 725 })
  })

  it('leaves a batch as it is that nothing is known of', () => {
    const { clock } = triangle()
    const { packet } = new TestPublisher('a', clock).next('hello')
    expect(tracerOf(clock).outgoing(packet)).toBe(packet)
  })
})

const peerId = identityOf('peer').nodeId

function tracerOf(clock: Clock): Tracer {
  return new Tracer({ clock, send: () => undefined, rttOf: () => 50 })
}
