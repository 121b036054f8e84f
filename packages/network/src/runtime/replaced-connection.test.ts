import type { Connection, Transport } from '@runnel/transport'
import { describe, expect, it } from 'vitest'
import { everybodyMay, partId, Swarm, TestPublisher, type Member } from '../network.testkit.ts'

interface Wired extends Member {
  /** Adds a connection to its link, as if it had dialled it. */
  add(connection: Connection): void
  readonly transport: Transport
  /** With other nodes. */
  readonly connections: Connection[]
}

async function joined(swarm: Swarm, name: string): Promise<Wired> {
  const { promise, resolve } = Promise.withResolvers<Transport>()
  const member = swarm.make(name, {}, everybodyMay, swarm.clock, {
    transports(modules) {
      const transport = swarm.network.transport({ role: 'node' }, modules)
      resolve(transport)
      return [transport]
    },
  })
  const transport = await promise
  const connections: Connection[] = []
  const note = (connection: Connection): void => {
    if (connection.peerRole === 'node') connections.push(connection)
  }
  const { onInbound, dial } = transport
  transport.onInbound = (connection) => {
    note(connection)
    onInbound(connection)
  }
  transport.dial = (request) =>
    dial.call(transport, {
      ...request,
      onOpen(connection) {
        note(connection)
        request.onOpen(connection)
      },
    })
  await member.node.start()
  member.node.join(partId)
  return { ...member, add: onInbound, transport, connections }
}

/** Takes what it is given, and carries nothing any more, which nobody is told. */
function die(connection: Connection): void {
  connection.send = () => true
}

describe('a connection that died, and that another one replaced before anybody noticed', () => {
  it.each(['dialled', 'was dialled by'])(
    'loses nothing, not even the last message of a chain, when the publisher %s the other node',
    async (which) => {
      const swarm = new Swarm()
      await swarm.trackerTransport.start()
      const members = [await joined(swarm, 'one'), await joined(swarm, 'other')]
      swarm.clock.advanceBy(5_000)
      const isDialler = ({ connections: [first] }: Wired) => first?.direction === 'outbound'
      const [dialler, dialled] = members.toSorted((a, b) => Number(isDialler(b)) - Number(isDialler(a))) as [
        Wired,
        Wired,
      ]
      const [from, to] = which === 'dialled' ? [dialler, dialled] : [dialled, dialler]
      const publisher = new TestPublisher('p', swarm.clock)
      from.node.publish(publisher.next('first'))
      swarm.clock.advanceBy(1_000)
      for (const { connections } of members) for (const connection of connections) die(connection)
      expect(from.node.publish(publisher.next('last'))).toBe(true)
      const peerId = dialled.node.nodeId
      const onFail = () => expect.unreachable()
      dialler.transport.dial({ peerId, timeoutMs: 1_000, onOpen: (one) => dialler.add(one), onFail })
      swarm.clock.advanceBy(100)
      expect(members.map(({ connections }) => connections.length)).toEqual([2, 2])
      expect(to.texts()).toEqual(['first'])
      swarm.clock.advanceBy(1_000)
      expect(to.texts()).toEqual(['first', 'last'])
      for (const { node } of members) {
        const { counters } = node.metrics()
        expect([counters['links.lost'], counters['attach.repeated']]).toEqual([0, 0])
      }
    },
  )
})
