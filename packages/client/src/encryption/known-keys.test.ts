import { ciphers, publisherKeyOf, toHex, type EpochId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { identityOf } from '../resend/batches.testkit.ts'
import { KnownKeys } from './known-keys.ts'

const key = (byte: number) => new Uint8Array(32).fill(byte)
const { nodeId: publisher } = identityOf('publisher')

/** All epochs have the same id: what a commitment begins with is not hashed. */
const colliding = {
  ...ciphers,
  sha256: (...parts: readonly Uint8Array[]) => {
    const hash = ciphers.sha256(...parts)
    hash.fill(0, 0, 6)
    return hash
  },
}

describe('the keys that are known', () => {
  it('are found by the id that follows from the key itself', () => {
    const known = new KnownKeys({ ciphers })
    const { id } = known.add(key(1))
    known.add(key(2))
    expect(known.epochs(id).map((one) => one.key)).toEqual([key(1)])
    expect(known.epochs('AAAAAAAA' as EpochId)).toEqual([])
  })

  it('give the key of each publisher', () => {
    const known = new KnownKeys({ ciphers })
    const { id } = known.add(key(1))
    expect(known.publisherKeys(id, publisher)).toEqual([publisherKeyOf(ciphers, key(1), publisher)])
    expect(known.publisherKeys('AAAAAAAA' as EpochId, publisher)).toEqual([])
  })

  it('are of one publisher where the epoch is not given', () => {
    const known = new KnownKeys({ ciphers })
    const id = 'AAAAAAAA' as EpochId
    known.addPublisherKey(id, publisher, key(7))
    known.addPublisherKey(id, publisher, key(7))
    expect(known.publisherKeys(id, publisher)).toEqual([key(7)])
    expect(known.publisherKeys(id, identityOf('other').nodeId)).toEqual([])
    expect(known.epochs(id)).toEqual([])
    for (const byte of [1, 2, 3, 4]) known.addPublisherKey(id, publisher, key(byte))
    expect(known.publisherKeys(id, publisher)).toHaveLength(4)
  })

  it('are told of once', () => {
    const known = new KnownKeys({ ciphers })
    let told = 0
    known.onKey = () => told++
    for (const one of [key(1), key(1), key(2)]) known.add(one)
    expect(told).toBe(2)
  })

  it('tell when their epoch was made, as soon as that is known', () => {
    const known = new KnownKeys({ ciphers })
    const { id } = known.add(key(1))
    for (const createdMs of [undefined, 1_000, undefined, 2_000]) known.add(key(1), createdMs)
    expect(known.epochs(id).map(({ createdMs }) => createdMs)).toEqual([1_000])
  })

  it('are all tried where several have one id, the newest first, and at most four', () => {
    const known = new KnownKeys({ ciphers: colliding })
    const { id } = known.add(key(1))
    expect(known.publisherKeys(id, publisher)).toHaveLength(1)
    for (const byte of [2, 3, 4, 5]) known.add(key(byte))
    expect(known.epochs(id).map((one) => one.key[0])).toEqual([5, 4, 3, 2])
    const expected = [5, 4, 3, 2].map((byte) => toHex(publisherKeyOf(colliding, key(byte), publisher)))
    expect(known.publisherKeys(id, publisher).map(toHex)).toEqual(expected)
  })
})
