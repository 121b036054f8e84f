import {
  PacketType,
  protocolErrors,
  type About,
  type NodeId,
  type RunnelError,
  type Status,
} from '@runnel/protocol'
import type { Connection, ConnectionLimits, Transport } from '@runnel/transport'
import { describe, expect, it } from 'vitest'
import { directWay, type Way } from '../core/tracker-link/way.ts'
import { TrackerClosedError } from '../errors.ts'
import { memoryContact, partId, Swarm } from '../network.testkit.ts'
import { TrackerConnections } from './tracker-connections.ts'

const about: About = { type: 'about', role: 'node', version: '1.2.3', name: 'attic' }

/** What a node hears when the tracker does something to its connection. */
async function errorsAfter(
  act: (connection: Connection, swarm: Swarm) => void,
  limits: Partial<ConnectionLimits> = {},
  otherWays: readonly string[] = [],
  isKeyShared = true,
): Promise<RunnelError[]> {
  const swarm = new Swarm()
  const errors: RunnelError[] = []
  const transport = swarm.wire('node')
  const events = {
    onOpened: () => {},
    onClosed: (_: Way, wasOpen: boolean, error: RunnelError) => {
      expect(wasOpen).toBe(true)
      errors.push(error)
    },
    onPacket: () => {},
    onUnknown: () => {},
  }
  const trackers = new TrackerConnections(
    { dialTimeoutMs: 1_000, limits, isKeyShared, about },
    { transport: () => transport, events },
  )
  swarm.trackerTransport.onInbound = (connection) => {
    connection.events = { onPacket: () => {}, onDrain: () => {}, onClose: () => {} }
    act(connection, swarm)
  }
  await Promise.all([swarm.trackerTransport.start(), transport.start()])
  const way = directWay(swarm.trackerAddress)
  for (const each of [way, ...otherWays.map((key) => ({ ...way, key }))]) trackers.dial(each)
  swarm.clock.advanceBy(4_000)
  return errors
}

describe('a connection to a tracker', () => {
  it('that the tracker closed ends with the code it gave', async () => {
    const errors = await errorsAfter((connection) => connection.close('TRACKER_BUSY', 'once more'))
    expect(errors).toEqual([expect.objectContaining({ code: 'TRACKER_LOST', closeCode: 'TRACKER_BUSY' })])
    expect(errors[0]).toBeInstanceOf(TrackerClosedError)
    expect(errors[0]?.message).toContain('the tracker closed: TRACKER_BUSY once more')
  })

  it('that is refused for its credential says what to do about that', async () => {
    const errors = await errorsAfter((connection) =>
      connection.close('DELEGATION_NOT_YET', 'it begins later'),
    )
    expect(errors).toMatchObject([{ code: 'TRACKER_LOST', remedy: protocolErrors.DELEGATION_NOT_YET.remedy }])
  })

  it('that another one replaced says whether that may be one of its own', async () => {
    const replace = (connection: Connection) => connection.close('REPLACED', 'once more')
    expect(await errorsAfter(replace)).toMatchObject([{ code: 'NODE_REPLACED' }])
    const errors = await errorsAfter(replace, {}, ['another way'])
    expect(errors[0]).toMatchObject({ code: 'TRACKER_LOST', closeCode: 'REPLACED' })
    // Whatever a tracker says.
    expect(await errorsAfter(replace, {}, [], false)).toMatchObject([{ code: 'TRACKER_LOST' }])
  })

  it('that this side ends over what it got has no such code, whatever the words', async () => {
    const errors = await errorsAfter((connection) => {
      connection.send(Uint8Array.of(PacketType.trackerError, 1, 0xff))
    })
    expect(errors).toEqual([expect.objectContaining({ code: 'TRACKER_LOST' })])
    expect(errors[0]).not.toBeInstanceOf(TrackerClosedError)
  })

  it('ends over a packet for trackers, and not over one of a later version', async () => {
    const later = (connection: Connection) => void connection.send(Uint8Array.of(0x3f, 1, 0xff))
    expect(await errorsAfter(later)).toEqual([])
    const foreign = (connection: Connection) => void connection.send(Uint8Array.of(PacketType.leave, 1, 0xff))
    expect(await errorsAfter(foreign)).toEqual([expect.objectContaining({ code: 'TRACKER_LOST' })])
  })

  it('to a tracker that fell silent ends after as many pings as its own limits say', async () => {
    const goDark = (_: Connection, swarm: Swarm) =>
      swarm.network.setOnline(swarm.trackerIdentity.nodeId, false)
    const error = expect.objectContaining({
      code: 'TRACKER_LOST',
      message: expect.stringContaining('PEER_DEAD'),
    })
    expect(await errorsAfter(goDark, { pingIntervalMs: 1_000, maxMissedPongs: 2 })).toEqual([error])
    expect(await errorsAfter(goDark)).toEqual([])
  })
})

const typeNames = new Map<number, string>(Object.entries(PacketType).map(([name, type]) => [type, name]))

/** What a tracker with these capabilities is sent. */
function sentTo(capabilities: readonly string[], act: (trackers: TrackerConnections, way: Way) => void) {
  const swarm = new Swarm()
  const packets: string[] = []
  const connection = {
    peerRole: 'tracker',
    capabilities: new Set(capabilities),
    rttMs: 40,
    send: (bytes: Uint8Array) => packets.push(typeNames.get(bytes[0] ?? 0) ?? '') > 0,
  } as unknown as Connection
  const transport: Partial<Transport> = {
    dial: ({ onOpen }) => {
      onOpen(connection)
      return () => {}
    },
  }
  const events = { onOpened: () => {}, onClosed: () => {}, onPacket: () => {}, onUnknown: () => {} }
  const trackers = new TrackerConnections(
    { dialTimeoutMs: 1_000, limits: {}, isKeyShared: true, about },
    { transport: () => transport as Transport, events },
  )
  const way = directWay(swarm.trackerAddress)
  trackers.dial(way)
  act(trackers, way)
  return packets
}

describe('a tracker', () => {
  it('has a round-trip time while it is connected', () => {
    sentTo([], (trackers, way) => {
      expect(trackers.rttMs(way.trackerId)).toBe(40)
      expect(trackers.rttMs(about.name as NodeId)).toBeUndefined()
    })
  })

  const status: Status = { type: 'status', streamPartId: partId, counter: 1, neighbours: [], failed: [] }
  const linked = [{ nodeId: new Swarm().trackerAddress.nodeId, rttMs: 1, transport: 2 }]
  const act = (trackers: TrackerConnections, way: Way) => {
    for (let i = 0; i < 2; i++) trackers.introduce(way, memoryContact)
    trackers.send(way, { ...status, neighbours: linked })
    trackers.send(way, status)
  }

  it('that knows how is told once what the node is, and by what it is linked', () => {
    const told = ['nodeInfo', 'about', 'nodeInfo', 'fullStatus', 'status']
    expect(sentTo(['reports'], act)).toEqual(told)
  })

  it('of an earlier version is told neither', () => {
    expect(sentTo(['something else'], act)).toEqual(['nodeInfo', 'nodeInfo', 'status', 'status'])
  })
})
