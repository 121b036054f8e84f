import {
  ciphers,
  createIdentity,
  isCardSignedByKey,
  loadCrypto,
  parsePrivateKey,
  toHex,
  type Card,
} from '@runnel/protocol'
import { Wallet } from 'ethers'
import { beforeEach, describe, expect, it } from 'vitest'
import { identitySigner, keySigner } from '../identity/key-signer.ts'
import { keysOnly } from '../identity/request-signature.ts'
import { walletSigner } from '../identity/wallet-signer.ts'
import { testWallet } from '../identity/wallet.testkit.ts'
import { cardPublicKeyOf } from './card-key.ts'
import { exportReadingKey } from './export-reading-key.ts'
import { openReadingKeys } from './open-reading-keys.ts'
import { openReadingKey, renewReadingKey } from './own-reading-key.ts'
import type { Cards, ReadingKeySource } from './ports.ts'

const crypto = await loadCrypto()
const clock = { now: () => Date.UTC(2031, 3, 5) }
const context = { accounts: keysOnly, chainId: 137, ciphers, crypto, clock }
const privateKey = '5e'.repeat(32)
const user = createIdentity(parsePrivateKey(privateKey), crypto)
const { nodeId: userId } = user
const { signal } = new AbortController()

let cards: Card[]
beforeEach(() => {
  cards = []
})
const directory: Cards = {
  put: async (card) => void cards.push(card),
  cardsOf: async () => new Map(cards.slice(-1).map((card) => [card.userId, card])),
}
const publicKeyOf = (readingKey: Uint8Array) => cardPublicKeyOf(ciphers, readingKey)
const sourceOf = (signer = identitySigner(user, crypto)) =>
  openReadingKeys(undefined, { userId, signer }, context)
const delegateWith = (config: Parameters<typeof openReadingKeys>[0]) =>
  openReadingKeys(config, { userId }, context)
const open = (source: ReadingKeySource, changed: Partial<Cards> = {}) =>
  openReadingKey(userId, { source, publicKeyOf, directory: { ...directory, ...changed } }, undefined, signal)
const renew = (source: ReadingKeySource) =>
  renewReadingKey(userId, { source, publicKeyOf, directory }, signal)
const exported = (generation: number) =>
  exportReadingKey(keySigner(privateKey), { chainId: 137, generation }, { clock })

describe('the reading key of a user', () => {
  it('gets a card when it has none, and keeps it', async () => {
    const first = await open(sourceOf())
    expect(first.card).toMatchObject({
      userId,
      generation: 0,
      publicKey: await publicKeyOf(first.readingKey),
    })
    expect(isCardSignedByKey(first.card, crypto)).toBe(true)
    expect(await open(sourceOf())).toEqual(first)
    expect(cards).toEqual([first.card])
  })

  it('is of the generation of the card, after it was renewed elsewhere', async () => {
    const first = await open(sourceOf())
    const second = await renew(sourceOf())
    expect(second.card.generation).toBe(1)
    expect(toHex(second.readingKey)).not.toBe(toHex(first.readingKey))
    expect(await open(sourceOf())).toEqual(second)
    expect(cards).toEqual([first.card, second.card])
  })

  it('is not used as long as its card cannot be looked up', async () => {
    const cardsOf = () => Promise.reject(new Error('nobody answers'))
    await expect(open(sourceOf(), { cardsOf })).rejects.toThrow('nobody answers')
    expect(cards).toEqual([])
  })
})

describe('a wallet whose signatures differ each time', () => {
  const randomWallet = () => {
    const wallet = testWallet(new Wallet(`0x${privateKey}`), 137)
    wallet.signsRandomly = true
    return sourceOf(walletSigner(wallet))
  }

  it('never has anything encrypted for a key that it loses', async () => {
    await expect(open(randomWallet())).rejects.toMatchObject({ code: 'READING_KEY_CHANGED' })
    await expect(renew(randomWallet())).rejects.toMatchObject({ code: 'READING_KEY_CHANGED' })
    expect(cards).toEqual([])
  })

  it('does not replace the key of a card that is there', async () => {
    const { card } = await open(sourceOf())
    await expect(open(randomWallet())).rejects.toMatchObject({
      code: 'READING_KEY_CHANGED',
      message: expect.stringContaining(`does not fit the card of ${userId}, generation 0`),
    })
    expect(cards).toEqual([card])
  })
})

describe('a delegate with a reading key', () => {
  it('reads as its user, and brings the user’s card', async () => {
    const delegate = await open(delegateWith(await exported(0)))
    expect(await open(sourceOf())).toEqual(delegate)
    expect(cards).toHaveLength(1)
  })

  it('that was renewed meanwhile says so, and goes on with the new one', async () => {
    const [old, fresh] = await Promise.all([exported(0), exported(1)])
    await open(sourceOf())
    const renewed = await renew(sourceOf())
    await expect(open(delegateWith(old))).rejects.toMatchObject({
      code: 'READING_KEY_OTHER_GENERATION',
      message: expect.stringMatching(/it is 0, not 1$/),
    })
    expect(await open(delegateWith(fresh))).toEqual(renewed)
  })

  it('that is newer than the card brings its own card', async () => {
    await open(sourceOf())
    const { card } = await open(delegateWith(await exported(2)))
    expect(card.generation).toBe(2)
    expect(cards.map(({ generation }) => generation)).toEqual([0, 2])
  })

  it('that is not the one of the card is told apart', async () => {
    await open(sourceOf())
    const wrong = { userId, generation: 0, secret: `0x${'ab'.repeat(32)}` }
    await expect(open(delegateWith(wrong))).rejects.toMatchObject({ code: 'READING_KEY_CHANGED' })
  })
})
