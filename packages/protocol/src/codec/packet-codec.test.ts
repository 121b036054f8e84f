import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import malformed from '../../vectors/malformed.json' with { type: 'json' }
import vectors from '../../vectors/packets.json' with { type: 'json' }
import { loadCrypto } from '../crypto/load-crypto.ts'
import { limits } from '../limits.ts'
import { decodeBatch } from '../messages/batch-codec.ts'
import { PacketType, type Packet } from '../messages/packets.ts'
import { arbitraryPacket } from '../messages/packets.testkit.ts'
import { fromHex, toHex, toPlainJson } from '../messages/plain-json.testkit.ts'
import { pattern, sampleNodeId, samplePackets } from '../messages/samples.testkit.ts'
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
    expect(toPlainJson(decoded)).toEqual(packet)
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
      version: 1,
      role: 'node',
      nodeId: sampleNodeId('b'),
      nonce: pattern(32),
      agent: '',
    } as const
    const encode = (packet: Packet) => () => encodePacket(packet)
    const tooLarge = expect.objectContaining({ code: 'LIMIT_EXCEEDED' })
    const malformed = expect.objectContaining({ code: 'MALFORMED_PACKET' })
    expect(encode({ ...hello, agent: 'x'.repeat(limits.maxTextBytes + 1) })).toThrow(tooLarge)
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

  it('says of a hello of another version that it is one, whatever follows', () => {
    const other = expect.objectContaining({ code: 'UNSUPPORTED_VERSION' })
    for (const body of ['02', '00', 'ff0102030405']) {
      expect(() => decodePacket(PacketType.hello, fromHex(body))).toThrow(other)
    }
  })
})
