import { beforeAll, describe, expect, it } from 'vitest'
import { packetBytes, readPackets } from '../codec/frame.ts'
import { encodePacket } from '../codec/packet-codec.ts'
import { loadCrypto } from '../crypto/load-crypto.ts'
import type { Crypto } from '../ports.ts'
import { decodeBatch } from './batch-codec.ts'
import { readTraced } from './codecs/trace.ts'
import { PacketType } from './packet-table.ts'
import { sampleBatches } from './samples.testkit.ts'
import { shortPacket, wholeBatch } from './short-batch.ts'

let crypto: Crypto
beforeAll(async () => {
  crypto = await loadCrypto()
})

const bodyOf = (packet: Uint8Array): Uint8Array => readPackets(packet)[0]?.body ?? new Uint8Array()

describe('a batch with an alias in place of its header', () => {
  it('is the batch again where the alias is known', () => {
    for (const { batch } of sampleBatches(crypto)) {
      const { bytes, headerEnd } = batch
      const header = bytes.subarray(0, headerEnd)
      const whole = packetBytes(PacketType.data, bytes)
      for (const alias of [0, 1, 300, 0xffffffff]) {
        const short = shortPacket(whole, { alias, headerBytes: headerEnd })
        expect(short.length).toBeLessThanOrEqual(whole.length)
        const asked: number[] = []
        const again = wholeBatch(bodyOf(short), (of) => (asked.push(of), header))
        expect([again, asked]).toEqual([bytes, [alias]])
        expect(wholeBatch(bodyOf(short), () => undefined)).toBeUndefined()
      }
    }
  })

  it('keeps the trace before it', () => {
    for (const { batch } of sampleBatches(crypto)) {
      const trace = { hops: 3, ageUs: 5_000_000, sentUs: 7 }
      const { headerEnd, bytes } = batch
      const short = shortPacket(encodePacket({ type: 'traced', ...trace, batch }), {
        ...{ alias: 5, headerBytes: headerEnd },
      })
      const read = readTraced(bodyOf(short))
      expect(read.trace).toEqual(trace)
      expect(wholeBatch(read.batchBytes, () => bytes.subarray(0, headerEnd))).toEqual(bytes)
    }
  })

  it('is of an unknown version to whoever does not know it', () => {
    for (const { batch } of sampleBatches(crypto)) {
      const whole = packetBytes(PacketType.data, batch.bytes)
      const short = shortPacket(whole, { alias: 5, headerBytes: batch.headerEnd })
      expect(() => decodeBatch(bodyOf(short))).toThrow(
        expect.objectContaining({ code: 'UNSUPPORTED_VERSION' }),
      )
      expect(wholeBatch(batch.bytes, () => undefined)).toBe(batch.bytes)
    }
  })

  it.each([[[0]], [[0, 0x80]], [[0, 0x80, 0x00]], [[0, 0xff, 0xff, 0xff, 0xff, 0x7f]]])(
    'is refused with the alias %j',
    (bytes) => {
      expect(() => wholeBatch(Uint8Array.from(bytes), () => new Uint8Array())).toThrow()
    },
  )
})
