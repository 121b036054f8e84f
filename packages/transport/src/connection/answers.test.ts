import { encodePacket, PacketType, urgentCapability } from '@runnel/protocol'
import { expect, it } from 'vitest'
import { testModules } from '../conformance/modules.testkit.ts'
import { VirtualClock } from '../memory/virtual-clock.ts'
import type { Channel, DatagramLane } from './channel.ts'
import { connectionLimits } from './limits.ts'
import { LinkConnection } from './link-connection.ts'

const limits = connectionLimits({ lowMarkBytes: 500, highMarkBytes: 1_000, maxQueueBytes: 2_000 })
/** One answer may be above the limit. */
const mostBytes = 2_500

/** A connection with a channel and a lane that hold what they are given until a test says otherwise. */
function setUp(capabilities: readonly string[]) {
  const clock = new VirtualClock()
  const newSink = () => ({
    bufferedBytes: 0,
    types: [] as (number | undefined)[],
    send(frame: Uint8Array) {
      this.bufferedBytes += frame.length
      this.types.push(frame[0])
    },
  })
  const lane = { ...newSink(), isOpen: false, onFrame() {}, open() {} }
  const channel = {
    ...newSink(),
    ...{ kind: 'test', maxFrameBytes: 1_000_000, binding: new Uint8Array(0), datagrams: lane },
    ...{ events: { onFrame() {}, onDrain() {}, onClose() {} }, close() {} },
  } satisfies Channel
  const { nodeId } = testModules('peer', clock).identity
  const peer = { nodeId, role: 'node', capabilities: new Set(capabilities), showsCredential: false } as const
  const connection = new LinkConnection(
    { channel, peer, direction: 'inbound', limits },
    testModules('own', clock),
  )
  connection.start()
  clock.advanceBy(1)
  return { clock, connection, channel, lane: lane as typeof lane & DatagramLane }
}

it.each([
  ['a peer that knows urgent messages', [urgentCapability]],
  ['another', []],
])('Pongs to %s stay within the limit of the queue, and go on when it reads', (_, capabilities) => {
  const { clock, connection, channel } = setUp(capabilities)
  for (let token = 0; token < 1_000; token++) {
    connection.onFrame(encodePacket({ type: 'ping', token }))
    clock.advanceBy(11)
  }
  expect(connection.queuedBytes).toBeGreaterThan(1_500)
  expect(connection.queuedBytes).toBeLessThan(mostBytes)
  channel.bufferedBytes = 0
  connection.onDrain()
  channel.bufferedBytes = 0
  channel.types.length = 0
  connection.onFrame(encodePacket({ type: 'ping', token: 1 }))
  expect(channel.types).toEqual([PacketType.pong])
})

it.each([false, true])('Reports of arrivals stay within it as well, with a lane %s, and go on', (hasLane) => {
  const { clock, connection, channel, lane } = setUp([urgentCapability])
  lane.isOpen = hasLane
  const sink = hasLane ? lane : channel
  const marks = (count: number): void => {
    const packets = Array.from({ length: count }, () => encodePacket({ type: 'mark', number: ++number }))
    connection.onFrame(new Uint8Array(Buffer.concat(packets)))
    clock.advanceBy(60)
  }
  let number = 0
  for (let i = 0; i < 100; i++) marks(200)
  expect(sink.bufferedBytes).toBeGreaterThan(1_500)
  expect(sink.bufferedBytes).toBeLessThan(mostBytes)
  sink.bufferedBytes = 0
  sink.types.length = 0
  marks(1)
  expect(sink.types).toEqual([PacketType.arrivals])
})

it('Pongs by the lane stay within it', () => {
  const { clock, connection, lane } = setUp([urgentCapability])
  for (let token = 0; token < 1_000; token++) {
    lane.onFrame(encodePacket({ type: 'ping', token }))
    clock.advanceBy(11)
  }
  expect(connection.writable).toBe(true)
  expect(lane.bufferedBytes).toBeGreaterThan(1_500)
  expect(lane.bufferedBytes).toBeLessThan(mostBytes)
})
