import { decodePacket, packetBytes, PacketType, readPackets, type Fragment } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { Reassembler, splitPacket } from './fragments.ts'

const fragmentsOf = (packet: Uint8Array, maxFrameBytes: number): Fragment[] =>
  splitPacket(packet, maxFrameBytes).map((frame) => {
    expect(frame.length).toBeLessThanOrEqual(maxFrameBytes)
    const [raw] = readPackets(frame)
    return decodePacket(PacketType.fragment, raw?.body ?? new Uint8Array()) as Fragment
  })

describe('fragments', () => {
  it.each([17, 20, 100, 16_384])('come together again from frames of %i bytes', (maxFrameBytes) => {
    const packet = packetBytes(
      0x10,
      Uint8Array.from({ length: 50_000 }, (_, i) => i),
    )
    const reassembler = new Reassembler(60_000)
    const fragments = fragmentsOf(packet, maxFrameBytes)
    const results = fragments.map(({ bytes, last }) => reassembler.push(bytes, last))
    expect(results.slice(0, -1).every((result) => result === undefined)).toBe(true)
    expect(results.at(-1)?.whole).toEqual(packet)
    expect(reassembler.busy).toBe(false)
  })

  it('are refused above the packet limit', () => {
    const reassembler = new Reassembler(1000)
    reassembler.push(new Uint8Array(1000), false)
    expect(() => reassembler.push(new Uint8Array(1), false)).toThrow(
      expect.objectContaining({ code: 'FRAME_TOO_LARGE' }),
    )
  })

  it('must be one packet', () => {
    const packet = packetBytes(0x10, new Uint8Array(10))
    const two = Uint8Array.from([...packet, ...packet])
    expect(() => new Reassembler(1000).push(two, true)).toThrow(
      expect.objectContaining({ code: 'PROTOCOL_VIOLATION' }),
    )
    expect(() => new Reassembler(1000).push(packet.subarray(0, 5), true)).toThrow(
      expect.objectContaining({ code: 'MALFORMED_PACKET' }),
    )
  })
})
