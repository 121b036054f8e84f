import { beforeAll, describe, expect, it } from 'vitest'
import { nodeIdFromBytes, type NodeId } from '../ids/node-id.ts'
import type { Crypto } from '../ports.ts'
import { seededRandom } from '../random/seeded-random.ts'
import { generatePrivateKey } from './identity.ts'
import { KnownKeys, knownKeysLimits } from './known-keys.ts'
import { loadCrypto } from './load-crypto.ts'

const random = seededRandom('known keys')
const { maxKnownKeys, minRecoveries } = knownKeysLimits

describe('a key that signs often', () => {
  let crypto: Crypto
  beforeAll(async () => {
    crypto = await loadCrypto({ backend: 'js' })
  })

  const signer = (): { readonly key: Uint8Array; readonly id: NodeId } => {
    const key = generatePrivateKey(random)
    return { key, id: nodeIdFromBytes(crypto.addressOf(key)) }
  }
  const recovered = (digest: Uint8Array, signature: Uint8Array, expected?: NodeId): NodeId | undefined => {
    const address = crypto.recover(digest, signature, expected)
    return address && nodeIdFromBytes(address)
  }

  it('is recovered as it is when nobody is expected, whatever the signature', () => {
    const [often, other] = [signer(), signer()]
    for (let i = 0; i < 3 * minRecoveries; i++) {
      const digest = random.bytes(32)
      const good = crypto.sign(digest, often.key)
      expect(recovered(digest, good, often.id)).toBe(often.id)
      const flipped = Uint8Array.from(good)
      flipped[64] = 1 - (good[64] ?? 0)
      const changed = Uint8Array.from(good)
      changed[i % 64] = (changed[i % 64] ?? 0) ^ 1
      const cases = [
        [random.bytes(32), good],
        [digest, flipped],
        [digest, changed],
        [digest, crypto.sign(digest, other.key)],
        [digest, new Uint8Array(65)],
      ] as const
      for (const [message, signature] of cases) {
        const expected = recovered(message, signature)
        expect(expected).not.toBe(often.id)
        expect(recovered(message, signature, often.id)).toBe(expected)
      }
    }
  })

  it('knows its signature of a digest at the edges of the scalars', () => {
    const { key, id } = signer()
    for (let i = 0; i < minRecoveries; i++)
      recovered(new Uint8Array(32), crypto.sign(new Uint8Array(32), key), id)
    for (const byte of [0, 0xff]) {
      const digest = new Uint8Array(32).fill(byte)
      expect(recovered(digest, crypto.sign(digest, key), id)).toBe(id)
    }
  })
})

describe('the known keys', () => {
  const id = (number: number): NodeId => nodeIdFromBytes(new Uint8Array(20).fill(number))
  const nothing = new Uint8Array(0)
  const make = (): { readonly keys: KnownKeys; readonly prepared: number[] } => {
    const prepared: number[] = []
    const keys = new KnownKeys((publicKey) => {
      prepared.push(publicKey[0] ?? -1)
      return () => true
    })
    return { keys, prepared }
  }
  const recover = (keys: KnownKeys, number: number, times: number): void => {
    for (let i = 0; i < times; i++) keys.recovered(id(number), Uint8Array.of(number))
  }

  it('are prepared once they were recovered often', () => {
    const { keys, prepared } = make()
    recover(keys, 1, minRecoveries - 1)
    expect([prepared, keys.confirms(id(1), nothing, nothing)]).toEqual([[], false])
    recover(keys, 1, 5)
    expect([prepared, keys.confirms(id(1), nothing, nothing)]).toEqual([[1], true])
    expect(keys.confirms(id(2), nothing, nothing)).toBe(false)
  })

  it('are bounded: the one unused longest is forgotten', () => {
    const { keys } = make()
    for (let number = 0; number < maxKnownKeys; number++) recover(keys, number, minRecoveries)
    expect(keys.confirms(id(0), nothing, nothing)).toBe(true)
    recover(keys, maxKnownKeys, 1)
    expect(keys.confirms(id(1), nothing, nothing)).toBe(false)
    expect(keys.confirms(id(0), nothing, nothing)).toBe(true)
  })
})
