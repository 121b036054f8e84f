import {
  ciphers,
  createIdentity,
  loadCrypto,
  parsePrivateKey,
  toHex,
  toNodeId,
  typedDataDigest,
} from '@runnel/protocol'
import { expect, it } from 'vitest'
import { hashOfTypedData } from '../registry/chain/hash-of-typed-data.ts'
import { publicKeyOf } from './hpke.ts'
import { readingKeyOf, readingKeyTypedData } from './reading-key.ts'

const crypto = await loadCrypto()
const user = createIdentity(parsePrivateKey('11'.repeat(32)), crypto)
const claim = { chainId: 137, userId: user.nodeId, generation: 3, block: 0 }
const data = readingKeyTypedData(claim)

it('what is signed for a reading key has the hash that ethers gives it', () => {
  expect(toHex(typedDataDigest(data, crypto))).toBe(hashOfTypedData(data))
  expect(data.message['warning']).toContain('can read everything that is encrypted for this account')
})

it('each user and generation has another', () => {
  const material = new Uint8Array(64).fill(7)
  const others = [user.nodeId, toNodeId(`0x${'ab'.repeat(20)}`)].flatMap((userId) =>
    [0, 1, 2 ** 32 - 1].map((generation) => toHex(readingKeyOf(ciphers, material, userId, generation))),
  )
  expect(new Set(others).size).toBe(6)
})

it('the key pair of a card is that of the X-Wing draft, appendix "Test vectors"', async () => {
  const privateKey = Uint8Array.from(
    Buffer.from('7f9c2ba4e88f827d616045507605853ed73b8093f6efbc88eb1a6eacfa66ef26', 'hex'),
  )
  expect(toHex((await publicKeyOf(privateKey)).subarray(0, 16))).toBe('0xe2236b35a8c24b39b10aa1323a96a919')
})
