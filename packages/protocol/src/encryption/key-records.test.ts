import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nodeCiphers } from '../ciphers/node-ciphers.ts'
import { toNodeId } from '../ids/node-id.ts'
import { deriveKey } from './derive-key.ts'
import { commitmentOf, epochIdOf, wrapKey } from './epoch-keys.ts'
import { answerChain, cohortChain, epochChain, groupOf, linkChain, publishersChain } from './key-chains.ts'
import { decodeKeyRecord, decodeLinkSecret, encodeKeyRecord, encodeLinkSecret } from './key-record-codec.ts'

const fixed = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
const userId = fixed(20).map((bytes) => toNodeId(`0x${Buffer.from(bytes).toString('hex')}`))
const wrapped = fc.array(fc.record({ tag: fixed(4), wrapped: fixed(32) }), { maxLength: 5 })
const sealed = { encapsulated: fixed(1120), sealed: fc.uint8Array({ maxLength: 200 }) }
const epoch = { keyringId: fixed(16), commitment: fixed(32) }
const cohort = fc.record({ cohortId: fixed(8), wrapped: fixed(32) })
const record = fc.oneof(
  fc.record({ kind: fc.constant('link' as const), hint: fixed(4), tag: fixed(4), ...sealed }),
  fc.record({ kind: fc.constant('answer' as const), readerId: userId, cardHash: fixed(32), ...sealed }),
  fc.record({
    ...{ kind: fc.constant('epoch' as const), ...epoch },
    ...{ createdMs: fc.nat(), readersAtBlock: fc.nat(), own: fixed(32), readers: wrapped },
    cohorts: fc
      .constantFrom(0, 2, 4)
      .chain((length) => fc.array(cohort, { minLength: length, maxLength: length })),
    publisherRecords: fc.constantFrom(0, 1, 1024),
    earlier: fc.array(fc.record({ id: fixed(6), wrapped: fixed(32) }), { maxLength: 16 }),
  }),
  fc.record({ kind: fc.constant('cohort' as const), keyringId: fixed(16), readers: wrapped }),
  fc.record({ kind: fc.constant('publishers' as const), ...epoch, publishers: wrapped }),
  fc.record({ kind: fc.constant('newest' as const), ...epoch }),
  fc.record({
    ...{ kind: fc.constant('request' as const), card: fc.uint8Array({ maxLength: 50 }) },
    wanted: fc.array(fixed(6), { maxLength: 4 }),
  }),
)

describe('a key record', () => {
  it('comes out as it went in, and has one encoding', () => {
    fc.assert(
      fc.property(record, (given) => {
        const bytes = encodeKeyRecord(given)
        expect(decodeKeyRecord(bytes)).toEqual(given)
      }),
    )
  })

  it('of any bytes is refused with a code, or has one encoding', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 1300 }), fc.nat(8), (bytes, kind) => {
        if (bytes.length > 0) bytes[0] = kind
        let decoded
        try {
          decoded = decodeKeyRecord(bytes)
        } catch (error) {
          const codes = ['MALFORMED_PACKET', 'LIMIT_EXCEEDED', 'UNSUPPORTED_VERSION']
          expect(codes).toContain((error as { code?: string }).code)
          return
        }
        expect(encodeKeyRecord(decoded)).toEqual(bytes)
      }),
    )
  })

  it('has no number of cohorts but a power of two', () => {
    const cohorts = Array.from({ length: 3 }, () => ({
      cohortId: new Uint8Array(8),
      wrapped: new Uint8Array(32),
    }))
    const some = { keyringId: new Uint8Array(16), commitment: new Uint8Array(32), own: new Uint8Array(32) }
    const of = (count: number) =>
      encodeKeyRecord({
        ...{ kind: 'epoch', ...some, createdMs: 0, readersAtBlock: 0, readers: [], publisherRecords: 0 },
        ...{ earlier: [], cohorts: cohorts.slice(0, count) },
      })
    expect(() => of(2)).not.toThrow()
    for (const count of [1, 3])
      expect(() => of(count)).toThrow(expect.objectContaining({ code: 'MALFORMED_PACKET' }))
  })

  it('is found by a chain id that a batch can have', () => {
    const commitment = new Uint8Array(32).fill(1)
    const readerId = toNodeId(`0x${'3'.repeat(40)}`)
    const chains = [
      epochChain(epochIdOf(commitment)),
      cohortChain(new Uint8Array(8)),
      linkChain(nodeCiphers, new Uint8Array(16), readerId),
      answerChain(nodeCiphers, readerId),
      publishersChain(commitment, 1023),
    ]
    for (const chain of chains) expect(chain).toMatch(/^[\x20-\x7e]{1,32}$/)
    expect(new Set(chains).size).toBe(chains.length)
  })

  it('puts each user into one of the groups, evenly', () => {
    const sizes = new Map<number, number>()
    for (let i = 0; i < 4000; i++) {
      const id = toNodeId(`0x${i.toString(16).padStart(40, '0')}`)
      const group = groupOf(nodeCiphers, id, 8)
      sizes.set(group, (sizes.get(group) ?? 0) + 1)
    }
    expect([...sizes.keys()].sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    for (const size of sizes.values()) expect(Math.abs(size - 500)).toBeLessThan(100)
  })
})

describe('a secret of a link', () => {
  it('comes out as it went in, and anything else is none', () => {
    const secret = { secret: new Uint8Array(32).fill(1), epochId: new Uint8Array(6).fill(2) }
    const key = new Uint8Array(32).fill(3)
    for (const [isForReader, given] of [
      [true, key],
      [false, key],
      [true, undefined],
      [false, undefined],
    ] as const) {
      const whole = { ...secret, key: given, isForReader }
      const bytes = encodeLinkSecret(whole)
      expect(decodeLinkSecret(bytes)).toEqual(whole)
      expect(decodeLinkSecret(bytes.subarray(1))).toBeUndefined()
      expect(decodeLinkSecret(Uint8Array.of(3, ...bytes.subarray(1)))).toBeUndefined()
    }
  })
})

describe('keys', () => {
  it('for two uses are two, and a wrapped one unwraps', () => {
    const [key, other] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
    expect(deriveKey(nodeCiphers, key, 'card')).not.toEqual(deriveKey(nodeCiphers, key, 'keyring'))
    const context = commitmentOf(nodeCiphers, other)
    const wrappedKey = wrapKey(nodeCiphers, key, 'wrapped epoch', context, other)
    expect(wrappedKey).not.toEqual(other)
    expect(wrapKey(nodeCiphers, key, 'wrapped epoch', context, wrappedKey)).toEqual(other)
  })
})
