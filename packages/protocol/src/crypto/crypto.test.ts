import { beforeAll, describe, expect, it } from 'vitest'
import { fromHex, toHex } from '../messages/plain-json.testkit.ts'
import type { Crypto } from '../ports.ts'
import { seededRandom } from '../random/seeded-random.ts'
import { generatePrivateKey } from './identity.ts'
import { loadCrypto } from './load-crypto.ts'

const order = 0xffffffff_ffffffff_ffffffff_fffffffe_baaedce6_af48a03b_bfd25e8c_d0364141n
const toBigInt = (bytes: Uint8Array): bigint => BigInt(`0x${toHex(bytes)}`)
const toBytes32 = (value: bigint): Uint8Array => fromHex(value.toString(16).padStart(64, '0'))

/** What every implementation of the port must do, and that all do the same. */
describe.each(['native', 'wasm', 'js'] as const)('the %s backend', (backend) => {
  let crypto: Crypto
  let reference: Crypto
  const random = seededRandom(`crypto of ${backend}`)

  beforeAll(async () => {
    crypto = await loadCrypto({ backend })
    reference = await loadCrypto({ backend: 'js' })
  })

  it('says which it is', () => {
    expect(crypto.backend).toBe(backend)
  })

  it.each([
    ['', 'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'],
    ['616263', '4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45'],
  ])('hashes %j as keccak-256 and not as SHA-3', (hex, hash) => {
    expect(toHex(crypto.keccak256(fromHex(hex)))).toBe(hash)
  })

  it('hashes parts as one, and gives fresh bytes', () => {
    const bytes = random.bytes(100_000)
    const whole = crypto.keccak256(bytes)
    const hash = toHex(whole)
    expect(
      toHex(crypto.keccak256(bytes.subarray(0, 1), bytes.subarray(1, 70_000), bytes.subarray(70_000))),
    ).toBe(hash)
    expect(toHex(whole)).toBe(hash)
  })

  it('gives the addresses that Ethereum gives', () => {
    expect(toHex(crypto.addressOf(toBytes32(1n)))).toBe('7e5f4552091a69125d5dfcb7b8c2659029395bdf')
    expect(toHex(crypto.addressOf(toBytes32(2n)))).toBe('2b5ad5c4795c026514f8317c7a215e218dccd6cf')
  })

  it('signs deterministically, the same as the others, and recovers the address', () => {
    for (let i = 0; i < 20; i++) {
      const key = generatePrivateKey(random)
      const digest = random.bytes(32)
      const signature = crypto.sign(digest, key)
      expect(toHex(signature)).toBe(toHex(reference.sign(digest, key)))
      expect(signature).toHaveLength(65)
      expect(signature[64]).toBeLessThan(2)
      expect(toHex(crypto.recover(digest, signature) ?? new Uint8Array())).toBe(toHex(crypto.addressOf(key)))
    }
  })

  it('recovers nothing from the high-s twin of a signature', () => {
    const key = generatePrivateKey(random)
    const digest = random.bytes(32)
    const signature = crypto.sign(digest, key)
    const twin = signature.slice()
    twin.set(toBytes32(order - toBigInt(signature.subarray(32, 64))), 32)
    twin[64] = 1 - (signature[64] as number)
    expect(crypto.recover(digest, twin)).toBeUndefined()
  })

  it('recovers nothing from what is no signature, and does not throw', () => {
    const digest = random.bytes(32)
    const good = crypto.sign(digest, generatePrivateKey(random))
    const changed = (at: number, bytes: Uint8Array): Uint8Array => {
      const signature = good.slice()
      signature.set(bytes, at)
      return signature
    }
    const bad = [
      new Uint8Array(),
      new Uint8Array(64),
      new Uint8Array(65),
      new Uint8Array(66),
      new Uint8Array(65).fill(0xff),
      good.subarray(0, 64),
      changed(0, new Uint8Array(32)),
      changed(0, toBytes32(order)),
      changed(32, new Uint8Array(32)),
      changed(32, toBytes32(order)),
      changed(32, toBytes32(order / 2n + 1n)),
      ...[2, 3, 4, 27, 28, 255].map((v) => changed(64, Uint8Array.of(v))),
    ]
    for (const signature of bad) expect(crypto.recover(digest, signature), toHex(signature)).toBeUndefined()
    expect(crypto.recover(digest.subarray(1), good)).toBeUndefined()
  })

  it('recovers the same as the others from random signatures', () => {
    const digest = random.bytes(32)
    let recovered = 0
    for (let i = 0; i < 60; i++) {
      const signature = random.bytes(65)
      signature[32] = (signature[32] as number) & 0x7f
      signature[64] = (signature[64] as number) & 1
      const address = crypto.recover(digest, signature)
      expect(address).toEqual(reference.recover(digest, signature))
      if (address !== undefined) recovered++
    }
    expect(recovered).toBeGreaterThan(10)
    expect(recovered).toBeLessThan(60)
  })

  it.each([
    ['zero', new Uint8Array(32)],
    ['the order of the curve', toBytes32(order)],
    ['too short', new Uint8Array(31).fill(1)],
    ['too long', new Uint8Array(33).fill(1)],
  ])('has no address for a key that is %s', (_, key) => {
    expect(() => crypto.addressOf(key)).toThrow(expect.objectContaining({ code: 'INVALID_KEY' }))
  })
})

describe('loadCrypto', () => {
  it('takes the native backend where there is one', async () => {
    expect((await loadCrypto()).backend).toBe('native')
  })
})
