import { inspect } from 'node:util'
import {
  cardPublicKeyBytes,
  cardTypedData,
  ciphers,
  createIdentity,
  isCardSignedByKey,
  loadCrypto,
  parsePrivateKey,
  toHex,
  toNodeId,
} from '@runnel/protocol'
import { Wallet } from 'ethers'
import { describe, expect, it } from 'vitest'
import type { ReadingKeyConfig } from '../config.ts'
import { identitySigner, keySigner } from '../identity/key-signer.ts'
import { keysOnly } from '../identity/request-signature.ts'
import { walletSigner } from '../identity/wallet-signer.ts'
import { testWallet } from '../identity/wallet.testkit.ts'
import { cardPublicKeyOf } from './card-key.ts'
import { exportReadingKey } from './export-reading-key.ts'
import { openReadingKeys } from './open-reading-keys.ts'

const crypto = await loadCrypto()
const clock = { now: () => Date.UTC(2031, 3, 5) }
const context = { accounts: keysOnly, chainId: 137, ciphers, crypto, clock }
const privateKey = '5e'.repeat(32)
const user = createIdentity(parsePrivateKey(privateKey), crypto)
const { nodeId: userId } = user
const [publicKey, otherPublicKey] = [5, 6].map((fill) => new Uint8Array(cardPublicKeyBytes).fill(fill)) as [
  Uint8Array,
  Uint8Array,
]

const wallet = () => testWallet(new Wallet(`0x${privateKey}`), 137)
const byKey = () => openReadingKeys(undefined, { userId, signer: identitySigner(user, crypto) }, context)
const byWallet = (of = wallet()) => openReadingKeys(undefined, { userId, signer: walletSigner(of) }, context)
const given = (config: ReadingKeyConfig, changed = {}) =>
  openReadingKeys(config, { userId }, { ...context, ...changed })
const signatures = (asked: readonly string[]) =>
  asked.filter((method) => method.startsWith('eth_sign')).length

describe('a user who signs deterministically', () => {
  it('has the same reading key in a wallet as with its private key, another for each generation and chain', async () => {
    const key = await byKey().readingKey(0)
    expect(toHex(await byWallet().readingKey(0))).toBe(toHex(key))
    const signer = identitySigner(user, crypto)
    const elsewhere = openReadingKeys(undefined, { userId, signer }, { ...context, chainId: 1 })
    const keys = [key, await byKey().readingKey(1), await elsewhere.readingKey(0)]
    expect(new Set(keys.map(toHex)).size).toBe(3)
  })

  it('is asked once, and once more before others encrypt for the key', async () => {
    const of = wallet()
    const source = byWallet(of)
    await source.readingKey(0)
    await source.readingKey(0)
    expect(signatures(of.asked)).toBe(1)
    const card = await source.signCard(0, publicKey)
    expect(signatures(of.asked)).toBe(3)
    expect(isCardSignedByKey(card, crypto)).toBe(true)
    expect(card).toMatchObject({ userId, chainId: 137, generation: 0, dateMs: clock.now(), publicKey })
  })

  it('may refuse, and is asked again later', async () => {
    const of = wallet()
    of.refuses = true
    const source = byWallet(of)
    await expect(source.readingKey(0)).rejects.toMatchObject({ code: 'WALLET_REFUSED' })
    of.refuses = false
    expect(toHex(await source.readingKey(0))).toBe(toHex(await byKey().readingKey(0)))
  })
})

it('a wallet whose signatures differ each time gets no card for a key that it cannot make again', async () => {
  const of = wallet()
  of.signsRandomly = true
  const source = byWallet(of)
  await source.readingKey(0)
  await expect(source.signCard(0, publicKey)).rejects.toMatchObject({
    code: 'READING_KEY_CHANGED',
    remedy: expect.stringContaining('runnel reading-key new'),
  })
})

it('a contract account is not asked, as its signatures make no key', async () => {
  const of = wallet()
  const accounts = { contractBlock: () => Promise.resolve(7) }
  const signer = walletSigner(of)
  const source = openReadingKeys(undefined, { userId, signer }, { ...context, accounts })
  await expect(source.readingKey(0)).rejects.toMatchObject({ code: 'NO_READING_KEY' })
  expect(signatures(of.asked)).toBe(0)
})

it('another account’s signature is no reading key', async () => {
  const signer = { ...keySigner('77'.repeat(32)), address: () => Promise.resolve(userId) }
  const source = openReadingKeys(undefined, { userId, signer }, context)
  await expect(source.readingKey(0)).rejects.toMatchObject({ code: 'SIGNER_OTHER_ACCOUNT' })
})

describe('a reading key that was given', () => {
  const secret = `0x${'5e'.repeat(32)}`

  it('is used as it is, in its generation alone', async () => {
    const source = given({ userId, generation: 2, secret })
    expect(source.onlyGeneration).toBe(2)
    expect(toHex(await source.readingKey(2))).toBe(secret)
    const other = { code: 'READING_KEY_OTHER_GENERATION', message: expect.stringMatching(/it is 2, not 3$/) }
    await expect(source.readingKey(3)).rejects.toMatchObject(other)
    await expect(source.signCard(3, publicKey)).rejects.toMatchObject(other)
  })

  it('of another user is refused', () => {
    const config = { userId: `0x${'ab'.repeat(20)}`, generation: 0, secret }
    expect(() => given(config)).toThrow(expect.objectContaining({ code: 'READING_KEY_NOT_YOURS' }))
    expect(given({ userId: userId.toUpperCase().replace('0X', '0x'), generation: 0, secret })).toBeDefined()
  })

  it('has the card that its user signed, and no other', async () => {
    const exported = await exportReadingKey(keySigner(privateKey), { chainId: 137 }, { clock })
    const source = given(exported)
    expect(toHex(await source.readingKey(0))).toBe(toHex(await byKey().readingKey(0)))
    const ofKey = await cardPublicKeyOf(ciphers, await source.readingKey(0))
    const card = await source.signCard(0, ofKey)
    expect(isCardSignedByKey(card, crypto)).toBe(true)
    await expect(source.signCard(0, otherPublicKey)).rejects.toMatchObject({ code: 'CARD_NEEDS_USER' })
    await expect(given(exported, { chainId: 1 }).signCard(0, ofKey)).rejects.toMatchObject({
      code: 'CARD_OTHER_CHAIN',
    })
    const bare = given({ userId, generation: 0, secret })
    await expect(bare.signCard(0, ofKey)).rejects.toMatchObject({ code: 'CARD_NEEDS_USER' })
  })

  it('of a contract account has cards that its owners sign, at a block', async () => {
    const account = toNodeId(`0x${'cc'.repeat(20)}`)
    const asked: unknown[] = []
    const signer = {
      address: () => Promise.resolve(account),
      signTypedData: async (data: unknown) => `0x${'ab'.repeat(asked.push(data) * 130)}`,
    }
    const accounts = { contractBlock: () => Promise.resolve(77) }
    const config = { userId: account, generation: 1, secret }
    const source = openReadingKeys(config, { userId: account, signer }, { ...context, accounts })
    const card = await source.signCard(1, publicKey)
    expect(card).toMatchObject({ userId: account, block: 77, generation: 1 })
    expect(card.signature).toHaveLength(130)
    expect(asked).toEqual([cardTypedData(card, crypto)])
  })
})

it('a delegate to which no key was given has none', async () => {
  const source = openReadingKeys(undefined, { userId }, context)
  await expect(source.readingKey(0)).rejects.toMatchObject({
    code: 'NO_READING_KEY',
    remedy: expect.stringContaining('runnel reading-key export'),
  })
  await expect(source.signCard(0, publicKey)).rejects.toMatchObject({ code: 'CARD_NEEDS_USER' })
})

it('no way of printing a source shows a secret', async () => {
  const secret = `0x${'5e'.repeat(32)}`
  const sources = [byKey(), byWallet(), given({ userId, generation: 0, secret })]
  for (const source of sources) {
    const key = await source.readingKey(0)
    const shown = [inspect(source, { depth: 10, showHidden: true }), JSON.stringify(source), String(source)]
    for (const text of shown) {
      expect(text).not.toContain(toHex(key).slice(2, 10))
      expect(text).not.toContain(key.subarray(0, 4).join(', '))
    }
  }
})
