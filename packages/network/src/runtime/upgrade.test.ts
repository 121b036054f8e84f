import { packetBytes } from '@runnel/protocol'
import type { Connection, Transport } from '@runnel/transport'
import { describe, expect, it } from 'vitest'
import { everybodyMay, partId, Swarm, TestPublisher, turn, type Member } from '../network.testkit.ts'

/** A packet between nodes that 1.0 does not have. */
const laterPacket = packetBytes(0x19, Uint8Array.of(1, 2, 3))

/** As a later version would: it says what more it can do, and sends packets that 1.0 does not have to everybody it dials. */
function makeLater(swarm: Swarm, name: string, connections: Connection[]): Member {
  return swarm.make(name, {}, everybodyMay, swarm.clock, {
    transports: (modules) => {
      const capabilities = [{ name: 'runnel/1.1', required: false }]
      const memory: Transport = swarm.network.transport({ role: 'node' }, { ...modules, capabilities })
      const dial = memory.dial.bind(memory)
      memory.dial = (request) =>
        dial({
          ...request,
          onOpen: (connection) => {
            request.onOpen(connection)
            if (connection.peerRole === 'node') connections.push(connection)
            if (connection.peerRole === 'node') connection.send(laterPacket)
          },
        })
      return [memory]
    },
  })
}

describe('a network of version 1.0 whose nodes become 1.1 one by one', () => {
  it('loses no message, and carries what only 1.1 understands', async () => {
    const swarm = new Swarm()
    const members = await swarm.grow(10)
    const [first, ...others] = members
    if (first === undefined) throw new Error('no members')
    const publisher = new TestPublisher('publisher', swarm.clock)
    const extensions = [{ type: 7, bytes: Uint8Array.of(9) }]
    const sent: string[] = []
    const publishFor = (ms: number) => {
      for (let passed = 0; passed < ms; passed += 100) {
        const text = `message ${sent.length}`
        sent.push(text)
        first.node.publish(publisher.next(text, 0, extensions))
        swarm.clock.advanceBy(100)
      }
    }
    const connections: Connection[] = []
    const upgraded: { readonly member: Member; readonly since: number }[] = []
    publishFor(1_000)
    for (const old of others.slice(2)) {
      const stopped = old.node.stop()
      publishFor(1_000)
      await turn(swarm, stopped)
      const member = makeLater(swarm, `${old.name}, later`, connections)
      await member.node.start()
      member.node.join(partId)
      publishFor(5_000)
      upgraded.push({ member, since: sent.length })
    }
    publishFor(5_000)
    for (const old of [first, ...others.slice(0, 2)]) {
      expect(old.texts()).toEqual(sent)
      expect(old.deliveries.at(-1)?.message.extensions).toEqual(extensions)
    }
    for (const { member, since } of upgraded)
      expect(member.texts()).toEqual(expect.arrayContaining(sent.slice(since)))
    const ofOld = members.slice(0, 3).map(({ node }) => node.metrics().counters['packets.unknown'] ?? 0)
    expect(Math.max(...ofOld)).toBeGreaterThan(0)
    const common = connections.map(({ capabilities }) => capabilities.size)
    expect([Math.min(...common), Math.max(...common)]).toEqual([0, 1])
  })
})
