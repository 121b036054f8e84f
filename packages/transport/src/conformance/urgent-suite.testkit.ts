import { packetBytes, PacketType, readUrgentParts, type UrgentMessage } from '@runnel/protocol'
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

  it('brings the header of a chain once, and then as a number', async () => {
    const pair = await make()
    const [a, b] = await openLink(pair)
    const headers = [patterned(100), patterned(90)]
    const told = new Promise<void>((resolve) => {
      a.connection.events = { ...a.connection.events, onUrgentRate: resolve }
    })
    const sent: Uint8Array[] = []
    const sizes: number[] = []
    for (let i = 0; i < 12; i++) {
      const header = headers[i % 2] ?? patterned(1)
      const batchBytes = Uint8Array.from([...header, i, ...patterned(50)])
      const bytesBefore = a.connection.stats.bytesOut
      const chain = `p!${i % 2}`
      a.connection.sendUrgent({ ...message(pair, batchBytes), chain, headerBytes: header.length })
      sizes.push(a.connection.stats.bytesOut - bytesBefore)
      sent.push(batchBytes)
      await pair.settle(b.count(i + 1))
      // The peer tells that both came, and so what the link carries.
      if (i === 1) await pair.settle(told)
    }
    expect(b.packets.map(({ body }) => urgentOf(body).batchBytes)).toEqual(sent)
    expect(Math.min(...sizes.slice(0, 2))).toBeGreaterThan(140)
    expect(Math.max(...sizes.slice(-2))).toBeLessThan(70)
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

  it('brings packets as large as a frame of the channel that already waited when urgent messages began', async () => {
    const pair = await make()
    const [a, b] = await openLink(pair)
    // With its header a packet is 16 KiB, the largest frame of a data channel.
    const body = patterned(16 * 1024 - 3)
    for (let i = 0; i < 4; i++) a.connection.send(packetBytes(type, body))
    a.connection.sendUrgent(message(pair, patterned(10)))
    await pair.settle(Promise.race([b.count(5), b.closed]))
    expect([b.reasons, b.packets.filter((packet) => packet.type === type).length]).toEqual([[], 4])
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
    ...{ batchBytes, headerBytes: 0, deadlineMs: pair.nowMs() + lifetimeMs, publisher: 'p', chain: 'p!' },
    ...{ priority: 0, group: 0, object: 0, order: 'oldest' },
  }
}

function urgentOf(body: Uint8Array | undefined): { remainingMs: number; batchBytes: Uint8Array } {
  const { remainingMs, bytes } = readUrgentParts(body ?? new Uint8Array())
  return { remainingMs, batchBytes: bytes }
}

function numbered(value: number): Uint8Array {
  const bytes = new Uint8Array(6000)
  new DataView(bytes.buffer).setUint32(0, value)
  return bytes
}

function patterned(size: number): Uint8Array {
  return Uint8Array.from({ length: size }, (_, i) => (i * 31) & 0xff)
}
