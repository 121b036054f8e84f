import { beforeAll, describe, expect, it } from 'vitest'
import { sampleIdentity } from '../messages/samples.testkit.ts'
import type { Crypto } from '../ports.ts'
import { loadCrypto } from './load-crypto.ts'
import { memoisedRecovery } from './memoised-recovery.ts'

let crypto: Crypto
let recovered = 0
beforeAll(async () => {
  crypto = await loadCrypto()
})

/** With room for three; `recovered` counts what is not remembered. */
function memoised(): Crypto {
  recovered = 0
  return memoisedRecovery({ ...crypto, recover: (...of) => (recovered++, crypto.recover(...of)) }, 3)
}

const digestOf = (number: number): Uint8Array => crypto.keccak256(Uint8Array.of(number))

describe('recovery that is memoised', () => {
  it('gives the same answers, each of which is worked out once', () => {
    const once = memoised()
    const { sign } = sampleIdentity(crypto)
    const signature = sign(digestOf(1))
    const cases = [
      [digestOf(1), signature],
      [digestOf(2), signature],
      [digestOf(1), signature.slice(1)],
    ] as const
    for (let round = 0; round < 3; round++)
      for (const [digest, signed] of cases)
        expect(once.recover(digest, signed)).toEqual(crypto.recover(digest, signed))
    expect(recovered).toBe(3)
    once.recover(digestOf(1), signature)?.fill(0)
    expect(once.recover(digestOf(1), signature)).toEqual(crypto.recover(digestOf(1), signature))
  })

  it('takes nothing for a signature that only begins like one', () => {
    const once = memoised()
    const signature = sampleIdentity(crypto).sign(digestOf(1))
    expect(once.recover(digestOf(1), signature)).toBeDefined()
    expect(once.recover(digestOf(1), Uint8Array.of(...signature, 0))).toBeUndefined()
    expect(once.recover(Uint8Array.of(...digestOf(1), 0), signature)).toBeUndefined()
  })

  it('forgets the answer that was needed longest ago', () => {
    const once = memoised()
    const { sign } = sampleIdentity(crypto)
    const ask = (number: number) => once.recover(digestOf(number), sign(digestOf(number)))
    for (const number of [1, 2, 3, 1, 4, 1]) ask(number)
    expect(recovered).toBe(4)
    ask(2)
    expect(recovered).toBe(5)
  })
})
