import { encodePacket, packetBytes, PacketType, urgentCapability } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { afterEach, describe, expect, it } from 'vitest'
import type { Recorder } from '../conformance/recorder.testkit.ts'
import { openLink } from '../conformance/transport-pair.testkit.ts'
import { createPeerConnection } from './node-peer-connection.ts'
import type { DataChannelPort } from './peer-connection-port.ts'
import { SignallingNetwork } from './signalling.testkit.ts'
import type { WebRtcModules } from './web-rtc-transport.ts'

/** A packet type of the owner. */
const type = 0x10

let stop: () => Promise<unknown> = () => Promise.resolve()
afterEach(() => stop())

/** A link, and the lossy lanes as a's side has them. */
async function link(
  ofB: Partial<WebRtcModules> = {},
): Promise<{ a: Recorder; b: Recorder; lanes: DataChannelPort[] }> {
  const network = new SignallingNetwork()
  const lanes: DataChannelPort[] = []
  const watched: WebRtcModules['createPeerConnection'] = (options, events) =>
    createPeerConnection(options, {
      ...events,
      onLane: (label, channel) => {
        if (label === 'lossy') lanes.push(channel)
        events.onLane(label, channel)
      },
    })
  const one = await network.transport('a', {}, { createPeerConnection: watched })
  const other = await network.transport('b', {}, ofB)
  stop = () => Promise.all([one.transport.stop(), other.transport.stop()])
  const [a, b] = await openLink({
    ...{ a: one, b: other, nobody: { peerId: one.nodeId } },
    nowMs: () => systemClock.monotonicMs(),
    settle: (promise) => promise,
    stop: async () => {},
  })
  return { a, b, lanes }
}

/** Sends packets that may be lost, each after the one before. */
async function send(from: Recorder, to: Recorder, isEnough: (count: number) => boolean): Promise<void> {
  for (let count = 1; !isEnough(count); count++) {
    from.connection.send(packetBytes(type, Uint8Array.of(1)), 'mayLose')
    await to.count(count)
  }
}

describe('the lossy lane', () => {
  it('opens with the first packet that may be lost, of either side, and carries those of both', async () => {
    const { a, b, lanes } = await link()
    await send(b, a, () => lanes.length > 0)
    a.connection.send(packetBytes(type, Uint8Array.of(7)), 'mayLose')
    await b.count(1)
    expect([b.packets[0]?.type, lanes.length]).toEqual([type, 1])
  })

  it('is not opened with a peer that does not know it: packets go by the channel', async () => {
    const capabilities = [{ name: urgentCapability, required: false }]
    const { a, b, lanes } = await link({ capabilities })
    await send(a, b, (count) => count > 100)
    expect([lanes.length, b.packets.length]).toEqual([0, 100])
  })

  it.each([
    ['a close', encodePacket({ type: 'close', code: 'UNUSED', reason: '' })],
    ['a ping', encodePacket({ type: 'ping', token: 1 })],
    ['a fragment', encodePacket({ type: 'fragment', last: true, bytes: Uint8Array.of(type, 1, 1) })],
    ['garbage', Uint8Array.of(PacketType.data, 0xff)],
  ])('ends the link on %s', async (_, bytes) => {
    const { a, b, lanes } = await link()
    await send(a, b, () => lanes.length > 0)
    lanes[0]?.send(bytes)
    expect(await b.closed).toMatchObject({ code: 'PROTOCOL_VIOLATION', remote: false })
  })
})
