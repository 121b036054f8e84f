import { packetBytes, PacketType, Reader, type UrgentMessage } from '@runnel/protocol'
import { expect, it } from 'vitest'
import { openLink, type PairOptions, type TransportPair } from './transport-pair.testkit.ts'

/** A packet type of the owner. */
const type = 0x10

/** What every transport does with urgent messages. */
export function describeUrgent(make: (options?: PairOptions) => Promise<TransportPair>): void {
  it('brings urgent messages of any size, both ways, with what is left of their time', async () => {
    const pair = await make()
    const [a, b] = await openLink(pair)
    const sizes = [1, 100, 4096, 4097, 16_384, 100_000]
    for (const size of sizes) {
      // One after the other: they may come in any order, and a lane that is just opening may lose what is sent by it.
      expect(a.connection.sendUrgent(message(pair, patterned(size)))).toBe(true)
      await pair.settle(b.count(sizes.indexOf(size) + 1))
    }
    expect(b.packets.map((packet) => packet.type)).toEqual(sizes.map(() => PacketType.urgent))
    const received = b.packets.map(({ body }) => urgentOf(body))
    expect(received.map(({ batchBytes }) => batchBytes)).toEqual(sizes.map(patterned))
    for (const { remainingMs } of received) expect(remainingMs).toBeLessThanOrEqual(60_000)
    b.connection.sendUrgent(message(pair, patterned(10)))
    await pair.settle(a.count(1))
    expect(urgentOf(a.packets[0]?.body).batchBytes).toEqual(patterned(10))
  })

  it('brings an urgent message before what waits, and that in order and whole', async () => {
    const pair = await make({ limits: { maxQueueBytes: 16 * 1024 * 1024 } })
    const [a, b] = await openLink(pair)
    a.connection.sendUrgent(message(pair, patterned(10)))
    // Each is sent in fragments, between which urgent ones come.
    const count = 400
    for (let i = 0; i < count; i++) a.connection.send(packetBytes(type, numbered(i)))
    await pair.settle(b.count(5))
    a.connection.sendUrgent(message(pair, patterned(11)))
    await pair.settle(b.until(() => b.packets.length >= count + 2))
    const types = b.packets.map((packet) => packet.type)
    expect(types.lastIndexOf(PacketType.urgent)).toBeLessThan(count / 2)
    const ordinary = b.packets.filter((packet) => packet.type === type)
    expect(ordinary.map(({ body }) => new DataView(body.buffer).getUint32(0))).toEqual(
      Array.from({ length: count }, (_, i) => i),
    )
  })

  it('drops what is too late, and says so', async () => {
    const pair = await make()
    const [a, b] = await openLink(pair)
    const dropped: string[] = []
    a.connection.events = { ...a.connection.events, onUrgentDropped: (why) => void dropped.push(why) }
    expect(a.connection.sendUrgent(message(pair, patterned(10), 0))).toBe(true)
    expect(dropped).toEqual(['late'])
    a.connection.send(packetBytes(type, numbered(1)))
    await pair.settle(b.count(1))
    expect(b.packets.map((packet) => packet.type)).toEqual([type])
  })
}

function message(pair: TransportPair, batchBytes: Uint8Array, lifetimeMs = 60_000): UrgentMessage {
  return {
    ...{ batchBytes, deadlineMs: pair.nowMs() + lifetimeMs, publisher: 'p', chain: 'p!' },
    ...{ priority: 0, group: 0, object: 0, order: 'oldest' },
  }
}

function urgentOf(body: Uint8Array | undefined): { remainingMs: number; batchBytes: Uint8Array } {
  const reader = new Reader(body ?? new Uint8Array())
  return { remainingMs: reader.varint(), batchBytes: reader.rest() }
}

function numbered(value: number): Uint8Array {
  const bytes = new Uint8Array(6000)
  new DataView(bytes.buffer).setUint32(0, value)
  return bytes
}

function patterned(size: number): Uint8Array {
  return Uint8Array.from({ length: size }, (_, i) => (i * 31) & 0xff)
}
