import { packetBytes, PacketType, readPackets, shortPacket } from '@runnel/protocol'
import { VirtualClock } from '@runnel/transport'
import { expect, it } from 'vitest'
import type { NodeEvent } from '../core/events.ts'
import { identityOf, TestPublisher } from '../network.testkit.ts'
import { eventOfPacket, type EventOptions } from './node-packets.ts'
import { RecentPackets } from './recent-packets.ts'

const publisher = new TestPublisher('publisher', new VirtualClock())
const [one, another] = [identityOf('one').nodeId, identityOf('another').nodeId]

type Data = NodeEvent & { type: 'data' }

function receive(peerId: typeof one, packet: Uint8Array, options: EventOptions): Data {
  const frame = packet.slice()
  const [{ type, body } = { type: 0, body: frame }] = readPackets(frame)
  return eventOfPacket(peerId, type, body, frame, options) as Data
}

it('gives a copy from another neighbour as what came first, whole or with an alias', () => {
  const { bytes } = publisher.next('content')
  const packet = packetBytes(PacketType.data, bytes)
  const options = { recent: new RecentPackets(), headerOf: () => bytes.subarray(0, first.batch.headerEnd) }
  const first = receive(one, packet, options)
  const copy = receive(another, packet, options)
  const short = shortPacket(packet, { alias: 3, headerBytes: first.batch.headerEnd })
  const aliased = receive(another, short, options)
  for (const event of [copy, aliased]) {
    expect(event).toEqual({ ...first, peerId: another })
    expect(event.batch).toBe(first.batch)
    expect(event.packet).toBe(first.packet)
  }
})

it('takes nothing for a copy that differs in a byte', () => {
  const { bytes } = publisher.next('content')
  const packet = packetBytes(PacketType.data, bytes)
  const options = { recent: new RecentPackets() }
  const first = receive(one, packet, options)
  const changed = packet.slice()
  const place = packet.length - bytes.length + (first.batch.messageOffsets[1] ?? 0) - 1
  changed[place] = (changed[place] ?? 0) ^ 1
  const other = receive(another, changed, options)
  expect(other.packet).toEqual(changed)
  expect(other.batch).not.toBe(first.batch)
})
