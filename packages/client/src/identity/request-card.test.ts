import {
  cardDigest,
  cardPublicKeyBytes,
  cardTypedData,
  isCardSignedByKey,
  loadCrypto,
  toHex,
} from '@runnel/protocol'
import { expect, it } from 'vitest'
import { hashOfTypedData } from '../registry/chain/hash-of-typed-data.ts'
import { keySigner } from './key-signer.ts'
import { requestCard } from './request-card.ts'

const crypto = await loadCrypto()
const user = keySigner('11'.repeat(32))
const clock = { now: () => Date.UTC(2031, 3, 5) }
const wish = { chainId: 137, generation: 3, publicKey: new Uint8Array(cardPublicKeyBytes).fill(5) }
const contractAt = (block: number) => ({ contractBlock: () => Promise.resolve(block) })

it('a card has the hash that ethers gives it', async () => {
  for (const block of [0, 77]) {
    const card = await requestCard(user, wish, { crypto, clock, accounts: contractAt(block) })
    expect(card.block).toBe(block)
    expect(isCardSignedByKey(card, crypto)).toBe(true)
    expect(toHex(cardDigest(card, crypto))).toBe(hashOfTypedData(cardTypedData(card, crypto)))
  }
})

it('a card that nobody would take is asked of nobody', async () => {
  const unasked = { ...user, signTypedData: () => Promise.reject(new Error('asked')) }
  const short = { ...wish, publicKey: new Uint8Array(7) }
  await expect(requestCard(unasked, short, { crypto, clock })).rejects.toMatchObject({
    code: 'MALFORMED_PACKET',
  })
})

it('a card of a contract has its signature as it is, and one of a key is the key’s', async () => {
  const other = keySigner('33'.repeat(32))
  const wrong = { ...user, signTypedData: other.signTypedData.bind(other) }
  const card = await requestCard(wrong, wish, { crypto, clock, accounts: contractAt(77) })
  expect(card).toMatchObject({ block: 77, userId: await user.address() })
  expect(isCardSignedByKey(card, crypto)).toBe(false)
  await expect(requestCard(wrong, wish, { crypto, clock })).rejects.toMatchObject({
    code: 'SIGNER_OTHER_ACCOUNT',
  })
})
