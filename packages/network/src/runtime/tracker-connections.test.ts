import { PacketType, type RunnelError } from '@runnel/protocol'
import type { Connection } from '@runnel/transport'
import { describe, expect, it } from 'vitest'
import { TrackerClosedError } from '../errors.ts'
import { Swarm } from '../network.testkit.ts'
import { TrackerConnections } from './tracker-connections.ts'

/** What a node hears when the tracker does something to its connection. */
async function errorsAfter(act: (connection: Connection) => void): Promise<RunnelError[]> {
  const swarm = new Swarm()
  const errors: RunnelError[] = []
  const transport = swarm.wire('node')
  const events = {
    onOpened: () => {},
    onClosed: (_: string, wasOpen: boolean, error: RunnelError) => {
      expect(wasOpen).toBe(true)
      errors.push(error)
    },
    onPacket: () => {},
  }
  const trackers = new TrackerConnections({ dialTimeoutMs: 1_000 }, { transport: () => transport, events })
  swarm.trackerTransport.onInbound = (connection) => {
    connection.events = { onPacket: () => {}, onDrain: () => {}, onClose: () => {} }
    act(connection)
  }
  await Promise.all([swarm.trackerTransport.start(), transport.start()])
  trackers.dial(swarm.trackerAddress)
  swarm.clock.advanceBy(1_000)
  return errors
}

describe('a connection to a tracker', () => {
  it('that the tracker closed ends with the code it gave', async () => {
    const errors = await errorsAfter((connection) => connection.close('REPLACED', 'once more'))
    expect(errors).toEqual([expect.objectContaining({ code: 'TRACKER_LOST', closeCode: 'REPLACED' })])
    expect(errors[0]).toBeInstanceOf(TrackerClosedError)
    expect(errors[0]?.message).toContain('the tracker closed: REPLACED once more')
  })

  it('that this side ends over what it got has no such code, whatever the words', async () => {
    const errors = await errorsAfter((connection) => {
      connection.send(Uint8Array.of(PacketType.trackerError, 1, 0xff))
    })
    expect(errors).toEqual([expect.objectContaining({ code: 'TRACKER_LOST' })])
    expect(errors[0]).not.toBeInstanceOf(TrackerClosedError)
  })
})
