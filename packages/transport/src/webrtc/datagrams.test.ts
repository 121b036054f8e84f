import { encodePacket, packetBytes, PacketType } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Recorder } from '../conformance/recorder.testkit.ts'
import { openLink } from '../conformance/transport-pair.testkit.ts'
import { createPeerConnection } from './node-peer-connection.ts'
import type { CreatePeerConnection, DataChannelPort } from './peer-connection-port.ts'
import { SignallingNetwork } from './signalling.testkit.ts'

let a: Recorder
let b: Recorder
/** The lanes as a's side has them. */
let lanes: DataChannelPort[]
let stop: () => Promise<unknown>

beforeEach(async () => {
  const network = new SignallingNetwork()
  lanes = []
  const watched: CreatePeerConnection = (options, events) =>
    createPeerConnection(options, {
      ...events,
      onLane: (label, channel) => {
        lanes.push(channel)
        events.onLane(label, channel)
      },
    })
  const ofA = await network.transport('a', {}, { createPeerConnection: watched })
  const ofB = await network.transport('b')
  stop = () => Promise.all([ofA.transport.stop(), ofB.transport.stop()])
  const pair = {
    ...{ a: ofA, b: ofB, nobody: { peerId: ofA.nodeId } },
    nowMs: () => systemClock.monotonicMs(),
    settle: <T>(promise: Promise<T>) => promise,
    stop: async () => {},
  }
  ;[a, b] = await openLink(pair)
})
afterEach(() => stop())

/** Sends urgent messages, each after the one before, until the lane of a's side is open. */
async function openLane(from: Recorder, to: Recorder): Promise<DataChannelPort> {
  for (let count = to.packets.length + 1; lanes.length === 0; count++) {
    from.connection.sendUrgent({
      ...{ batchBytes: Uint8Array.of(1), deadlineMs: systemClock.monotonicMs() + 60_000 },
      ...{
        headerBytes: 0,
        publisher: 'p',
        chain: 'c',
        priority: 0,
        group: count,
        object: 0,
        order: 'oldest',
      },
    })
    await to.count(count)
  }
  return lanes[0] as DataChannelPort
}

describe('the lane for datagrams', () => {
  it('opens with the first urgent message, of either side, and carries those of both', async () => {
    expect(lanes).toEqual([])
    await openLane(b, a)
    a.connection.sendUrgent({
      ...{ batchBytes: Uint8Array.of(7), deadlineMs: systemClock.monotonicMs() + 60_000 },
      ...{ headerBytes: 0, publisher: 'p', chain: 'c', priority: 0, group: 0, object: 0, order: 'oldest' },
    })
    await b.count(1)
    expect(b.packets[0]).toMatchObject({ type: PacketType.urgent })
    expect(lanes.length).toBe(1)
  })

  it.each([
    ['an ordinary packet', packetBytes(PacketType.data, Uint8Array.of(1))],
    ['a close', encodePacket({ type: 'close', code: 'UNUSED', reason: '' })],
    ['garbage', Uint8Array.of(PacketType.urgent, 0xff)],
    ['a piece of nothing', packetBytes(PacketType.piece, Uint8Array.of(1, 0, 2, 9))],
  ])('ends the link on %s', async (_, bytes) => {
    const lane = await openLane(a, b)
    lane.send(bytes)
    expect(await b.closed).toMatchObject({ code: 'PROTOCOL_VIOLATION', remote: false })
    expect(await a.closed).toMatchObject({ code: 'PROTOCOL_VIOLATION', remote: true })
  })
})
