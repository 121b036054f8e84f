import { PacketType, type RunnelError } from '@runnel/protocol'
import type { Connection, ConnectionLimits } from '@runnel/transport'
import { describe, expect, it } from 'vitest'
import { directWay, type Way } from '../core/tracker-link/way.ts'
import { TrackerClosedError } from '../errors.ts'
import { Swarm } from '../network.testkit.ts'
import { TrackerConnections } from './tracker-connections.ts'

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
    { dialTimeoutMs: 1_000, limits, isKeyShared },
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
    const later = (connection: Connection) => void connection.send(Uint8Array.of(0x2f, 1, 0xff))
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
