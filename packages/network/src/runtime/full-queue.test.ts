import { toStreamPartId, type NodeId, type StreamPartId } from '@runnel/protocol'
import type { Connection } from '@runnel/transport'
import { expect, it } from 'vitest'
import { everybodyMay, partId, streamId, Swarm, type Member } from '../network.testkit.ts'

const otherPartId = toStreamPartId(streamId, 1)

/** A node whose links with other nodes can be made to take nothing but what goes into their reserve. */
async function congested(swarm: Swarm) {
  const connections: Connection[] = []
  const note = (connection: Connection): Connection => {
    if (connection.peerRole === 'node') connections.push(connection)
    return connection
  }
  const member = swarm.make('congested', {}, everybodyMay, swarm.clock, {
    transports(modules) {
      const transport = swarm.network.transport({ role: 'node' }, modules)
      const { dial } = transport
      let { onInbound } = transport
      Object.defineProperty(transport, 'onInbound', {
        get: () => (connection: Connection) => onInbound(note(connection)),
        set: (to: typeof onInbound) => (onInbound = to),
      })
      transport.dial = (request) =>
        dial.call(transport, { ...request, onOpen: (one) => request.onOpen(note(one)) })
      return [transport]
    },
  })
  await member.node.start()
  const fill = (): void => {
    for (const connection of connections) {
      const send = connection.send.bind(connection)
      connection.send = (packet, mode) => mode === 'kept' && send(packet, mode)
    }
  }
  return { ...member, fill }
}

const neighboursOf = ({ node }: Pick<Member, 'node'>, id: StreamPartId): NodeId[] => {
  const part = node.metrics().streamParts.find(({ streamPartId }) => streamPartId === id)
  return part?.neighbours.map(({ nodeId }) => nodeId) ?? []
}

it('a neighbour hears that it is none any more, although the link takes no messages', async () => {
  const swarm = new Swarm()
  const [other] = await swarm.grow(1, 'other', [partId, otherPartId])
  const member = await congested(swarm)
  member.node.join(partId)
  member.node.join(otherPartId)
  swarm.clock.advanceBy(5_000)
  if (other === undefined) throw new Error('no other node')
  expect(neighboursOf(other, partId)).toEqual([member.node.nodeId])

  member.fill()
  member.node.leave(partId)
  swarm.clock.advanceBy(200)
  // Otherwise it would go on sending, and be banned for it.
  expect(neighboursOf(other, partId)).toEqual([])
  expect(neighboursOf(other, otherPartId)).toEqual([member.node.nodeId])
})
