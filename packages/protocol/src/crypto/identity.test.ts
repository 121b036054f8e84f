import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { nodeIdFromBytes } from '../ids/node-id.ts'
import { toHex } from '../messages/plain-json.testkit.ts'
import type { Random } from '../ports.ts'
import { seededRandom } from '../random/seeded-random.ts'
import { createIdentity, generatePrivateKey, parsePrivateKey } from './identity.ts'
import { loadCrypto } from './load-crypto.ts'

const crypto = await loadCrypto()
const hex = '4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318'

describe('an identity', () => {
  it('signs as the node id it has', () => {
    const identity = createIdentity(parsePrivateKey(hex), crypto)
    const digest = crypto.keccak256(Uint8Array.of(1))
    const address = crypto.recover(digest, identity.sign(digest))
    expect(address && nodeIdFromBytes(address)).toBe(identity.nodeId)
  })

  it('shows its key in no way of printing it', () => {
    const key = parsePrivateKey(hex)
    const identity = createIdentity(key, crypto)
    const shown = [
      inspect(identity, { depth: 10, showHidden: true }),
      JSON.stringify(identity),
      String(identity),
      identity.sign.toString(),
    ]
    const fewBytes = key.subarray(0, 4).join(', ')
    for (const text of shown) {
      expect(text).not.toContain(hex.slice(0, 8))
      expect(text).not.toContain(fewBytes)
    }
  })

  it('keeps its key when the bytes it was given are wiped', () => {
    const key = parsePrivateKey(hex)
    const identity = createIdentity(key, crypto)
    key.fill(0)
    const digest = crypto.keccak256(Uint8Array.of(1))
    expect(toHex(identity.sign(digest))).toBe(toHex(crypto.sign(digest, parsePrivateKey(hex))))
  })

  it('cannot be made of what is no key', () => {
    expect(() => createIdentity(new Uint8Array(32), crypto)).toThrow(
      expect.objectContaining({ code: 'INVALID_KEY' }),
    )
  })
})

describe('parsePrivateKey', () => {
  it('takes 0x and capitals', () => {
    expect(parsePrivateKey(`0x${hex.toUpperCase()}`)).toEqual(parsePrivateKey(hex))
  })

  it.each(['', hex.slice(1), `${hex}0`, hex.replace('c', 'g'), '0'.repeat(64), 'f'.repeat(64)])(
    'refuses %j without quoting it',
    (text) => {
      try {
        parsePrivateKey(text)
        expect.unreachable()
      } catch (error) {
        expect(error).toMatchObject({ code: 'INVALID_KEY' })
        if (text !== '') expect(inspect(error)).not.toContain(text)
      }
    },
  )
})

describe('generatePrivateKey', () => {
  it('draws again until it has a key', () => {
    const draws = [new Uint8Array(32), new Uint8Array(32).fill(0xff), new Uint8Array(32).fill(7)]
    const random: Random = { ...seededRandom(1), bytes: () => draws.shift() ?? new Uint8Array() }
    expect(generatePrivateKey(random)).toEqual(new Uint8Array(32).fill(7))
  })
})
