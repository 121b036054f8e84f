import { decodePacket, encodePacket, type StreamPartId } from '@runnel/protocol'
import { transportError, type Transport } from '@runnel/transport'
import { describe, expect, it } from 'vitest'
import { everybodyMay, identityOf, partId, Swarm, turn, type Member } from '../network.testkit.ts'

const secondId = identityOf('second').nodeId

/** A second tracker, which sends everybody to the first, and nodes that can dial only URLs that `canDial` lets pass. */
async function redirectingSwarm(canDial: (url: string) => boolean) {
  const swarm = new Swarm()
  const asked: string[] = []
  const second = swarm.wire('second', 'tracker')
  second.onInbound = (connection) => {
    const redirect = (streamPartId: StreamPartId) =>
      connection.send(
        encodePacket({ type: 'redirect', streamPartId, leaderId: swarm.trackerIdentity.nodeId }),
      )
    const onPacket = (type: number, body: Uint8Array) => {
      const packet = decodePacket(type, body)
      asked.push(packet.type)
      if (packet.type === 'status' || packet.type === 'findStorage' || packet.type === 'storing')
        redirect(packet.streamPartId)
    }
    connection.events = { onPacket, onDrain: () => undefined, onClose: () => undefined }
  }
  await Promise.all([swarm.trackerTransport.start(), second.start()])
  const make = async (name: string): Promise<Member & { readonly said: string[] }> => {
    const member = swarm.make(name, {}, everybodyMay, swarm.clock, {
      trackers: {
        trackersFor: () => [swarm.trackerAddress, { nodeId: secondId, url: 'memory://second' }],
        onChange: () => () => undefined,
      },
      transports: (modules) => {
        const memory: Transport = swarm.network.transport({ role: 'node' }, modules)
        const dial = memory.dial.bind(memory)
        memory.dial = (request) => {
          if (canDial(request.url ?? '')) return dial(request)
          return swarm.clock.schedule(1, () =>
            request.onFail(transportError('DIAL_FAILED', request.url ?? '')),
          )
        }
        return { memory }
      },
    })
    const said: string[] = []
    member.node.on('tracker', (id, state) => said.push(`${id === secondId ? 'second' : 'first'} ${state}`))
    await member.node.start()
    return { ...member, said }
  }
  return { swarm, asked, make }
}

describe('a node whose tracker redirects', () => {
  it('takes part at the one that leads, over a circuit', async () => {
    const { swarm, asked, make } = await redirectingSwarm((url) => url !== 'memory://tracker')
    const members = [await make('a'), await make('b')]
    for (const { node } of members) node.join(partId)
    swarm.clock.advanceBy(5_000)
    for (const { node, said } of members) {
      expect(node.metrics().streamParts[0]?.neighbours).toHaveLength(1)
      expect(said.filter((line) => line === 'first connected')).toHaveLength(1)
    }
    expect(asked.toSorted()).toEqual(['nodeInfo', 'nodeInfo', 'status', 'status'])
  })

  it('changes to the own URL of the tracker when that can be dialled, without it having been away', async () => {
    let reachable = false
    const { swarm, make } = await redirectingSwarm((url) => reachable || url !== 'memory://tracker')
    const { node, said } = await make('a')
    node.join(partId)
    swarm.clock.advanceBy(5_000)
    const before = swarm.tracker.statuses.length
    reachable = true
    swarm.clock.advanceBy(20_000)
    expect(swarm.tracker.statuses.length).toBeGreaterThan(before)
    const ofFirst = said.filter((line) => line.startsWith('first'))
    expect(ofFirst.slice(ofFirst.indexOf('first connected'))).toEqual(['first connected'])
    expect(node.metrics().counters['trackers.open']).toBe(1)
    expect(node.metrics().counters['tracker.lost']).toBe(0)
  })

  it('asks the one that leads who stores a stream part that it has not joined', async () => {
    const { swarm, asked, make } = await redirectingSwarm((url) => url !== 'memory://tracker')
    const storage = await make('storage')
    storage.node.join(partId)
    storage.node.offerStorage(partId, true)
    swarm.clock.advanceBy(5_000)
    const { node } = await make('reader')
    const found = await turn(swarm, node.findStorage(partId))
    expect(found.map(({ nodeId }) => nodeId)).toEqual([storage.node.nodeId])
    expect(asked.at(-1)).toBe('findStorage')
  })

  it('goes on asking, not too often, while nobody leads', async () => {
    const { swarm, asked, make } = await redirectingSwarm((url) => url === 'memory://second')
    const { node } = await make('a')
    node.join(partId)
    const found = node.findStorage(partId).catch((error: unknown) => error)
    swarm.clock.advanceBy(10_000)
    expect(await turn(swarm, found)).toMatchObject({ code: 'TRACKER_LOST' })
    swarm.clock.advanceBy(60_000)
    expect(asked.filter((type) => type === 'status').length).toBeGreaterThan(10)
    expect(asked.length).toBeLessThan(60)
  })
})
