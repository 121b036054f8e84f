import { maxPacketBytes, packetBytes, varintBytes } from '@runnel/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { describeFaults } from './fault-suite.testkit.ts'
import { describeLossy } from './lossy-suite.testkit.ts'
import { Recorder } from './recorder.testkit.ts'
import { describeUrgent } from './urgent-suite.testkit.ts'
import {
  addressOf,
  dial,
  failureCode,
  openLink,
  type MakePair,
  type PairOptions,
  type TransportPair,
} from './transport-pair.testkit.ts'

/** A packet type of the owner. */
const type = 0x10

export interface SuiteOptions {
  /** Whether the pairs have `faults`. */
  readonly faults: boolean
}

/**
 * What every transport must do, whatever it runs on. It waits for events only, so it holds on real and virtual time, and
 * needs nothing of Node.
 */
export function describeTransport(name: string, makePair: MakePair, options: SuiteOptions): void {
  describe(`${name} as a transport`, () => {
    let pair: TransportPair | undefined
    afterEach(async () => {
      const made = pair
      pair = undefined
      if (made !== undefined) await made.settle(made.stop())
    })
    const make = async (pairOptions: PairOptions = {}): Promise<TransportPair> =>
      (pair = await makePair(pairOptions))
    describeOpening(make)
    describePackets(make)
    describeUrgent(make)
    describeLossy(make)
    describeClosing(make)
    if (options.faults) describeFaults(make)
  })
}

type Make = (options?: PairOptions) => Promise<TransportPair>

function describeOpening(make: Make): void {
  it('opens a link with proven ids at both ends', async () => {
    const pair = await make()
    const [a, b] = await openLink(pair)
    expect(a.connection).toMatchObject({
      peerId: pair.b.nodeId,
      peerRole: 'node',
      direction: 'outbound',
      writable: true,
    })
    expect(b.connection).toMatchObject({
      peerId: pair.a.nodeId,
      peerRole: 'node',
      direction: 'inbound',
      writable: true,
    })
    expect(a.connection.transport).toBe(pair.a.transport.kind)
  })

  it('says of WebRTC, and of nothing else, how it goes', async () => {
    const pair = await make()
    const recorders = await openLink(pair)
    for (const { connection } of recorders) {
      const { local, remote } = connection.path ?? { local: 'host', remote: 'host' }
      // Not every browser reports it.
      expect(connection.transport === 'webrtc' || connection.path === undefined).toBe(true)
      expect([local, remote]).not.toContain('relay')
    }
    recorders[0].connection.close('UNUSED', '')
    await pair.settle(Promise.all(recorders.map(({ closed }) => closed)))
    expect(recorders.map(({ connection }) => connection.path)).toEqual([undefined, undefined])
  })

  it('opens two links when both ends dial at once', async () => {
    const pair = await make()
    const [[ab, ba], [ba2, ab2]] = await Promise.all([openLink(pair), openLink(pair, pair.b, pair.a)])
    ab.connection.send(packetBytes(type, Uint8Array.of(1)))
    ba2.connection.send(packetBytes(type, Uint8Array.of(2)))
    await pair.settle(Promise.all([ba.count(1), ab2.count(1)]))
    expect([ba.packets[0]?.body[0], ab2.packets[0]?.body[0]]).toEqual([1, 2])
  })

  it('fails a dial to nobody', async () => {
    const pair = await make()
    expect(failureCode(await pair.settle(dial(pair.a, pair.nobody)))).toMatch(/^[A-Z_]+$/)
  })

  it('calls neither back when a dial is cancelled', async () => {
    const pair = await make()
    const calls: string[] = []
    const cancel = pair.a.transport.dial({
      ...addressOf(pair.b),
      onOpen: () => calls.push('open'),
      onFail: () => calls.push('fail'),
    })
    cancel()
    cancel()
    // Opening and using a link afterwards gives the cancelled dial every chance to call.
    const [a, b] = await openLink(pair)
    a.connection.send(packetBytes(type, Uint8Array.of(1)))
    await pair.settle(b.count(1))
    expect(calls).toEqual([])
  })

  it('measures the round-trip time at once', async () => {
    const pair = await make({ limits: { pingIntervalMs: 20 } })
    const [a, b] = await openLink(pair)
    const measured = async (recorder: Recorder): Promise<number> => {
      for (let i = 0; recorder.connection.rttMs === undefined; i++) {
        const other = recorder === a ? b : a
        other.connection.send(packetBytes(type, Uint8Array.of(i)))
        await pair.settle(recorder.count(recorder.packets.length + 1))
      }
      return recorder.connection.rttMs
    }
    expect(await measured(a)).toBeGreaterThanOrEqual(0)
    expect(await measured(b)).toBeGreaterThanOrEqual(0)
  })
}

function describePackets(make: Make): void {
  it('delivers many packets whole and in order, both ways', async () => {
    const pair = await make({ limits: { maxQueueBytes: 16 * 1024 * 1024 } })
    const [a, b] = await openLink(pair)
    const count = 5000
    for (let i = 0; i < count; i++) {
      a.connection.send(packetBytes(type, numbered(i)))
      b.connection.send(packetBytes(type + 1, numbered(i)))
    }
    await pair.settle(Promise.all([a.count(count), b.count(count)]))
    expect(b.packets.map(({ body }) => numberOf(body))).toEqual(Array.from({ length: count }, (_, i) => i))
    expect(a.packets.map(({ body }) => numberOf(body))).toEqual(Array.from({ length: count }, (_, i) => i))
    expect(new Set(a.packets.map((packet) => packet.type))).toEqual(new Set([type + 1]))
  })

  it('packs the packets of a turn', async () => {
    const pair = await make()
    const [a, b] = await openLink(pair)
    const before = a.connection.stats.framesOut
    for (let i = 0; i < 1000; i++) expect(a.connection.send(packetBytes(type, numbered(i)))).toBe(true)
    await pair.settle(b.count(1000))
    expect(a.connection.stats.framesOut - before).toBeLessThan(20)
    expect(b.connection.stats.packetsIn).toBeGreaterThanOrEqual(1000)
  })

  it('takes every size up to the limit', async () => {
    const pair = await make({ limits: { maxQueueBytes: 16 * 1024 * 1024 } })
    const [a, b] = await openLink(pair)
    const largest = maxPacketBytes - 1 - varintBytes(maxPacketBytes)
    const sizes = [0, 1, 127, 128, 16_382, 16_383, 16_384, 16_385, 65_536, 262_144, 1_048_576, largest, 3]
    for (const size of sizes) expect(a.connection.send(packetBytes(type, patterned(size)))).toBe(true)
    await pair.settle(b.count(sizes.length))
    expect(b.packets.map(({ body }) => body.length)).toEqual(sizes)
    for (const { body } of b.packets) expect(isPatterned(body)).toBe(true)
  })

  it('refuses to send what is above the limit, and goes on', async () => {
    const pair = await make({ limits: { maxPacketBytes: 1000 } })
    const [a, b] = await openLink(pair)
    expect(a.connection.send(packetBytes(type, new Uint8Array(1000)))).toBe(false)
    expect(a.connection.stats.packetsDropped).toBe(1)
    expect(a.connection.send(packetBytes(type, new Uint8Array(900)))).toBe(true)
    await pair.settle(b.count(1))
    expect(b.packets[0]?.body.length).toBe(900)
  })

  it.each([1500, 40_000])('closes on whoever sends a packet of %i bytes above the limit', async (size) => {
    const pair = await make({ limitsOfB: { maxPacketBytes: 1000 } })
    const [a, b] = await openLink(pair)
    a.connection.send(packetBytes(type, new Uint8Array(size)))
    const [reasonA, reasonB] = await pair.settle(Promise.all([a.closed, b.closed]))
    expect(reasonB).toMatchObject({ code: 'FRAME_TOO_LARGE', remote: false })
    expect(reasonA).toMatchObject({ code: 'FRAME_TOO_LARGE', remote: true })
    expect(b.packets).toEqual([])
  })

  it('refuses above the queue limit, and says when there is room again', async () => {
    const limits = { highMarkBytes: 64 * 1024, lowMarkBytes: 16 * 1024, maxQueueBytes: 256 * 1024 }
    const pair = await make({ limits })
    const [a, b] = await openLink(pair)
    let accepted = 0
    while (a.connection.send(packetBytes(type, patterned(1000)))) accepted++
    expect(accepted * 1003).toBeGreaterThan(limits.maxQueueBytes - 2000)
    expect(a.connection.queuedBytes).toBeLessThanOrEqual(limits.maxQueueBytes)
    expect(a.connection.writable).toBe(false)
    expect(a.connection.stats.packetsDropped).toBe(1)
    expect(a.connection.send(packetBytes(type, patterned(1000)), 'kept')).toBe(true)
    await pair.settle(Promise.all([b.count(accepted + 1), a.until(() => a.drains > 0)]))
    expect(a.connection.writable).toBe(true)
    expect(b.packets.length).toBe(accepted + 1)
  })
}

function describeClosing(make: Make): void {
  it('closes after what was sent, with a code and a text both ends see', async () => {
    const pair = await make()
    const [a, b] = await openLink(pair)
    for (let i = 0; i < 100; i++) a.connection.send(packetBytes(type, numbered(i)))
    a.connection.close('UNUSED', 'nothing\u0000 in common')
    a.connection.close('PEER_DEAD', 'too late')
    expect(a.connection.send(packetBytes(type, numbered(100)))).toBe(false)
    const reasons = await pair.settle(Promise.all([a.closed, b.closed]))
    expect(reasons).toEqual([
      { code: 'UNUSED', text: 'nothing  in common', remote: false },
      { code: 'UNUSED', text: 'nothing  in common', remote: true },
    ])
    expect(b.packets.length).toBe(100)
    expect([a.reasons.length, b.reasons.length]).toEqual([1, 1])
  })

  it('stops: connections close, dials fail, nothing new comes', async () => {
    const pair = await make()
    const [a, b] = await openLink(pair)
    const pending = dial(pair.b, addressOf(pair.a))
    await pair.settle(Promise.all([pair.b.transport.stop(), pair.b.transport.stop()]))
    expect(await pair.settle(a.closed)).toMatchObject({ code: 'SHUTTING_DOWN', remote: true })
    expect(await pair.settle(b.closed)).toMatchObject({ code: 'SHUTTING_DOWN', remote: false })
    expect(failureCode(await pair.settle(pending))).toBe('SHUTTING_DOWN')
    expect(failureCode(await pair.settle(dial(pair.a, addressOf(pair.b))))).toMatch(/^[A-Z_]+$/)
    expect(failureCode(await pair.settle(dial(pair.b, addressOf(pair.a))))).toBe('SHUTTING_DOWN')
  })

  it('survives an owner that throws', async () => {
    const pair = await make()
    const [a, b] = await openLink(pair)
    const [other, otherB] = await openLink(pair)
    b.connection.events = {
      ...b.connection.events,
      onPacket() {
        throw new Error('a fault of the owner')
      },
    }
    a.connection.send(packetBytes(type, numbered(1)))
    const reasons = await pair.settle(Promise.all([a.closed, b.closed]))
    expect(reasons.map(({ code, remote }) => [code, remote])).toEqual([
      ['INTERNAL_ERROR', true],
      ['INTERNAL_ERROR', false],
    ])
    other.connection.send(packetBytes(type, numbered(2)))
    await pair.settle(otherB.count(1))
  })

  it('reports a link that its owner closes in the turn it was given', async () => {
    const pair = await make()
    pair.b.transport.onInbound = (connection) => connection.close('TOO_MANY_CONNECTIONS', 'full')
    const result = await pair.settle(dial(pair.a, addressOf(pair.b)))
    if (failureCode(result) !== undefined) throw result
    const recorder = new Recorder(result as Exclude<typeof result, Error>)
    expect(await pair.settle(recorder.closed)).toMatchObject({ code: 'TOO_MANY_CONNECTIONS', remote: true })
    const [a, b] = await openLink(pair)
    a.connection.send(packetBytes(type, numbered(1)))
    await pair.settle(b.count(1))
  })
}

function numbered(value: number): Uint8Array {
  const bytes = new Uint8Array(100)
  new DataView(bytes.buffer).setUint32(0, value)
  return bytes
}

function numberOf(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(0)
}

function patterned(size: number): Uint8Array {
  return Uint8Array.from({ length: size }, (_, i) => (i * 31) & 0xff)
}

function isPatterned(bytes: Uint8Array): boolean {
  return bytes.every((byte, i) => byte === ((i * 31) & 0xff))
}
