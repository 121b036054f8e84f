import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import malformed from '../../vectors/malformed.json' with { type: 'json' }
import vectors from '../../vectors/packets.json' with { type: 'json' }
import { loadCrypto } from '../crypto/load-crypto.ts'
import { toStreamId } from '../ids/stream-id.ts'
import { limits } from '../limits.ts'
import { decodeBatch } from '../messages/batch-codec.ts'
import { PacketType, type Packet } from '../messages/packet-table.ts'
import { arbitraryPacket } from '../messages/packets.testkit.ts'
import { fromHex, packetToJson, toHex } from '../messages/plain-json.testkit.ts'
import {
  pattern,
  sampleDraft,
  sampleIdentity,
  sampleNodeId,
  samplePackets,
} from '../messages/samples.testkit.ts'
import { buildBatch } from '../signing/build-batch.ts'
import { forEachPacket } from './frame.ts'
import { decodePacket, encodePacket } from './packet-codec.ts'

const crypto = await loadCrypto()

function decodeFrame(frame: Uint8Array): Packet[] {
  const packets: Packet[] = []
  forEachPacket(frame, (type, body) => packets.push(decodePacket(type, body)))
  return packets
}

describe('the packet codec', () => {
  it.each(vectors)('reads and writes the vector "$name"', ({ hex, packet }) => {
    const [decoded] = decodeFrame(fromHex(hex)) as [Packet]
    expect(packetToJson(decoded)).toEqual(packet)
    expect(toHex(encodePacket(decoded))).toBe(hex)
  })

  it.each(malformed)('refuses the vector "$name" with $code', ({ kind, hex, code }) => {
    const bytes = fromHex(hex)
    expect(() => (kind === 'batch' ? decodeBatch(bytes) : decodeFrame(bytes))).toThrow(
      expect.objectContaining({ name: 'RunnelError', code }),
    )
  })

  it('has a vector or a sample of every kind of packet', () => {
    const kinds = new Set(samplePackets(crypto).map(({ packet }) => packet.type))
    expect([...kinds].sort()).toEqual(Object.keys(PacketType).sort())
  })

  it('gives back every packet', () => {
    fc.assert(
      fc.property(arbitraryPacket, (packet) => {
        expect(decodeFrame(encodePacket(packet))).toEqual([packet])
      }),
      { numRuns: 500 },
    )
  })

  it('rounds a round-trip time to a tenth of a millisecond', () => {
    const [sample] = samplePackets(crypto).filter(({ name }) => name === 'status that joins')
    const status = sample?.packet as Extract<Packet, { type: 'status' }>
    const neighbours = [{ nodeId: sampleNodeId('b'), rttMs: 12.3456 }]
    const [decoded] = decodeFrame(encodePacket({ ...status, neighbours }))
    expect(decoded).toMatchObject({ neighbours: [{ rttMs: 12.3 }] })
  })

  it('does not write what it would not read', () => {
    const hello = {
      type: 'hello',
      versions: { oldest: 3, newest: 3 },
      role: 'node',
      nodeId: sampleNodeId('b'),
      nonce: pattern(32),
      sealing: 'none',
      address: '',
      agent: '',
      capabilities: [],
    } as const
    const encode = (packet: Packet) => () => encodePacket(packet)
    const tooLarge = expect.objectContaining({ code: 'LIMIT_EXCEEDED' })
    const malformed = expect.objectContaining({ code: 'MALFORMED_PACKET' })
    expect(encode({ ...hello, agent: 'x'.repeat(limits.maxTextBytes + 1) })).toThrow(tooLarge)
    expect(encode({ ...hello, address: 'x'.repeat(limits.maxAddressBytes + 1) })).toThrow(tooLarge)
    expect(encode({ ...hello, nonce: pattern(31) })).toThrow(malformed)
    expect(encode({ type: 'ping', token: -1 })).toThrow(malformed)
    expect(encode({ type: 'ping', token: 2 ** 32 })).toThrow(malformed)
    const servers = Array.from({ length: limits.maxIceServers + 1 }, () => ({
      url: '',
      username: '',
      credential: '',
    }))
    expect(encode({ type: 'iceServers', servers, ttlS: 0 })).toThrow(tooLarge)
    const neighbour = { nodeId: sampleNodeId('b'), rttMs: 1 }
    const [joined] = samplePackets(crypto).filter(({ packet }) => packet.type === 'status')
    const status = joined?.packet as Extract<Packet, { type: 'status' }>
    expect(encode({ ...status, neighbours: [neighbour, neighbour] })).toThrow(malformed)
  })

  it('does not write requests and answers of storage that it would not read', () => {
    const place = (timestamp: number) => ({ timestamp, sequenceNumber: 0 })
    const packetOf = <T extends Packet['type']>(type: T) => {
      const found = samplePackets(crypto).find(({ packet }) => packet.type === type)
      return found?.packet as Extract<Packet, { type: T }>
    }
    const resend = packetOf('resend')
    const inverted = { from: place(2), to: place(1) }
    const range = { after: place(1), upTo: place(2) }
    const node = { nodeId: sampleNodeId('b'), contact: packetOf('nodeInfo').contact }
    const refused: readonly Packet[] = [
      { ...packetOf('fetch'), ranges: [] },
      { ...packetOf('fetch'), ranges: [range, range] },
      { ...packetOf('fetch'), ranges: [{ after: place(1), upTo: place(1) }] },
      { ...packetOf('storageNodes'), nodes: [node, node] },
      { ...resend, selection: { kind: 'last', count: 0 } },
      { ...resend, selection: { kind: 'range', ...inverted } },
      { ...resend, publisherId: undefined, messageChainId: 'c' },
      { ...resend, windowBytes: -1 },
      { ...resend, token: { userId: sampleNodeId('b'), expiresMs: 0, signature: pattern(64) } },
      { ...packetOf('resendStart'), ...inverted },
    ]
    for (const packet of refused) {
      expect(() => encodePacket(packet), JSON.stringify(packet)).toThrow(
        expect.objectContaining({ code: 'MALFORMED_PACKET' }),
      )
    }
    const tooLarge: readonly Packet[] = [
      { ...resend, selection: { kind: 'last', count: limits.maxResendCount + 1 } },
      { ...packetOf('resendStart'), count: limits.maxResendCount + 1 },
      { ...packetOf('resendEnd'), text: 'x'.repeat(limits.maxTextBytes + 1) },
    ]
    for (const packet of tooLarge) {
      expect(() => encodePacket(packet), JSON.stringify(packet)).toThrow(
        expect.objectContaining({ code: 'LIMIT_EXCEEDED' }),
      )
    }
  })

  it('gives views of what it read, also of a batch behind the number of a request', () => {
    const views = samplePackets(crypto).flatMap(({ packet }) => {
      const bytes = encodePacket(packet)
      const [decoded] = decodeFrame(bytes)
      if (decoded?.type === 'resendData') return [[decoded.batch.bytes, bytes] as const]
      return decoded?.type === 'resend' && decoded.token ? [[decoded.token.signature, bytes] as const] : []
    })
    expect(views.length).toBeGreaterThan(3)
    for (const [view, bytes] of views) expect(view.buffer).toBe(bytes.buffer)
  })

  it('carries the largest batch, in an answer of a storage node as well', () => {
    const publisher = sampleIdentity(crypto)
    const chain = {
      streamId: toStreamId(`${publisher.nodeId}/${'p'.repeat(200)}`),
      partition: 0,
      publisherId: publisher.nodeId,
      messageChainId: 'c'.repeat(32),
    }
    const build = (size: number) =>
      buildBatch(
        {
          chain,
          messages: [
            sampleDraft(0, { content: pattern(limits.maxContentBytes) }),
            sampleDraft(1, { content: pattern(size) }),
          ],
        },
        crypto,
        publisher,
      )
    const spare = limits.maxBatchBytes - build(60_000).bytes.length
    const batch = build(60_000 + spare)
    expect(batch.bytes).toHaveLength(limits.maxBatchBytes)
    const [decoded] = decodeFrame(encodePacket({ type: 'resendData', requestId: 0xffffffff, batch }))
    expect(decoded).toMatchObject({ type: 'resendData', requestId: 0xffffffff })
    expect(decoded?.type === 'resendData' && toHex(crypto.keccak256(decoded.batch.bytes))).toBe(
      toHex(crypto.keccak256(batch.bytes)),
    )
  })

  it('says of a hello of another version that it is one, whatever follows', () => {
    const other = expect.objectContaining({ code: 'UNSUPPORTED_VERSION' })
    for (const body of ['0100', '0200', '0202', '0404', '04ff', '0502', 'ff0102030405']) {
      expect(() => decodePacket(PacketType.hello, fromHex(body))).toThrow(other)
    }
  })
})
