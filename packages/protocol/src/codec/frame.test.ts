import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isRunnelError } from '../errors.ts'
import { fromHex, toHex } from '../messages/plain-json.testkit.ts'
import { forEachPacket, maxPacketBodyBytes, maxPacketBytes, packetBytes, readPackets } from './frame.ts'

describe('a frame', () => {
  it('gives back the packets put into it, as views', () => {
    const packet = fc.tuple(fc.integer({ min: 0, max: 255 }), fc.uint8Array({ maxLength: 300 }))
    fc.assert(
      fc.property(fc.array(packet, { minLength: 1, maxLength: 5 }), (packets) => {
        const frame = Uint8Array.from(packets.flatMap(([type, body]) => [...packetBytes(type, body)]))
        const read = readPackets(frame)
        expect(read.map(({ type, body }) => [type, body])).toEqual(packets)
        expect(read.map(({ whole }) => toHex(whole)).join('')).toBe(toHex(frame))
        expect(read.every(({ whole }) => whole.buffer === frame.buffer)).toBe(true)
      }),
    )
  })

  it('visits the packets before the place where it goes wrong', () => {
    const visited: number[] = []
    expect(() => forEachPacket(fromHex('0300040005'), (type) => visited.push(type))).toThrow(
      expect.objectContaining({ code: 'MALFORMED_PACKET' }),
    )
    expect(visited).toEqual([3, 4])
  })

  it('has room for the largest packet and for no larger one', () => {
    const largest = packetBytes(0x10, new Uint8Array(maxPacketBodyBytes))
    expect(largest).toHaveLength(maxPacketBytes)
    expect(readPackets(largest)[0]?.body).toHaveLength(maxPacketBodyBytes)
    expect(() => packetBytes(0x10, new Uint8Array(maxPacketBodyBytes + 1))).toThrow(
      expect.objectContaining({ code: 'LIMIT_EXCEEDED' }),
    )
  })

  it('is refused by its announced length, before the bytes are there', () => {
    try {
      readPackets(fromHex('10ffffff7f'))
      expect.unreachable()
    } catch (error) {
      expect(isRunnelError(error, 'LIMIT_EXCEEDED')).toBe(true)
    }
  })
})
