import { cardPublicKeyBytes, ciphers, loadCrypto, toHex, toNodeId } from '@runnel/protocol'
import { Wallet } from 'ethers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { originStore } from '../browser/origin-store.ts'
import { openReadingKeys } from '../encryption/open-reading-keys.ts'
import { keysOnly } from './request-signature.ts'
import { forgetSession, openSession } from './session.ts'
import { readingKeysOf } from './session-reading-keys.ts'
import { memoryStore, type SessionStore } from './session-store.ts'
import { walletSigner } from './wallet-signer.ts'
import { testWallet, type TestWallet } from './wallet.testkit.ts'

const crypto = await loadCrypto()
const owner = new Wallet(`0x${'5e'.repeat(32)}`)
const userId = toNodeId(owner.address)
const hourMs = 3_600_000
const wish = {
  ...{ chainId: 137, streams: [], publishes: true, reads: true, lastsMs: 24 * hourMs },
  requester: 'https://page.example',
}

let wallet: TestWallet
let inMemory: SessionStore
let wallMs: number
const items = new Map<string, string>()
const name = `session 137 ${userId} pr`
/** Of the signatures those for sessions. */
let forSessions: number
const signatures = () => wallet.asked.filter((method) => method.startsWith('eth_sign')).length
const readingKeySignatures = () => signatures() - forSessions

beforeEach(() => {
  wallet = testWallet(owner, 137)
  wallMs = Date.UTC(2031, 3, 5)
  forSessions = 0
  items.clear()
  inMemory = memoryStore()
  // What `localStorage` does, of which each tab has the same.
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, text: string) => void items.set(key, text),
    removeItem: (key: string) => void items.delete(key),
  })
})
afterEach(() => vi.unstubAllGlobals())

/** Opens the session of the store as each tab does when it starts. */
async function openTab(store: SessionStore, signer = walletSigner(wallet)) {
  const clock = { now: () => wallMs }
  const before = signatures()
  const session = await openSession(signer, wish, store, { crypto, clock })
  forSessions += signatures() - before
  const kept = readingKeysOf(session, store)
  const context = { accounts: keysOnly, chainId: 137, ciphers, crypto, clock }
  return { session, source: openReadingKeys(undefined, { userId, signer, kept }, context) }
}

describe.each<[string, () => SessionStore]>([
  ['of an origin, for its tabs', originStore],
  ['in memory', () => inMemory],
])('reading keys kept beside a session, in the store %s', (_, nextStore) => {
  it('are asked for once, however many tabs want one', async () => {
    const tabs = [await openTab(nextStore()), await openTab(nextStore())]
    const keys = await Promise.all(tabs.map(({ source }) => source.readingKey(0)))
    expect(readingKeySignatures()).toBe(1)
    expect(new Set(keys.map(toHex)).size).toBe(1)
    const reloaded = await openTab(nextStore())
    expect(await reloaded.source.readingKey(0)).toEqual(keys[0])
    expect(readingKeySignatures()).toBe(1)
    const next = await reloaded.source.readingKey(1)
    expect(toHex(next)).not.toBe(toHex(keys[0] ?? new Uint8Array()))
    expect(readingKeySignatures()).toBe(2)
  })

  it('come with their card, which is signed once, too, and again where it is of no use', async () => {
    const publicKey = new Uint8Array(cardPublicKeyBytes).fill(3)
    const tabs = [await openTab(nextStore()), await openTab(nextStore())]
    const [card, same] = await Promise.all(tabs.map(({ source }) => source.signCard(0, publicKey)))
    // For the key, for the key again, and for the card.
    expect(readingKeySignatures()).toBe(3)
    expect(same).toEqual(card)
    const store = nextStore()
    const reloaded = await openTab(store)
    expect(await reloaded.source.signCard(0, publicKey)).toEqual(card)
    expect(readingKeySignatures()).toBe(3)
    expect(await reloaded.source.signCard(0, publicKey.with(0, 4))).not.toEqual(card)
    expect(readingKeySignatures()).toBe(5)
    const kept = JSON.parse(store.get(name) ?? '') as Record<string, unknown>
    store.set(name, JSON.stringify({ ...kept, card: '0x12' }))
    await reloaded.source.signCard(0, publicKey)
    expect(readingKeySignatures()).toBe(7)
  })

  it('go when the session is forgotten', async () => {
    const store = nextStore()
    const { session, source } = await openTab(store)
    await source.readingKey(0)
    forgetSession(session, store)
    expect(store.get(name)).toBeUndefined()
    // Nothing brings it back for others.
    await source.readingKey(1)
    expect(store.get(name)).toBeUndefined()
    await (await openTab(nextStore())).source.readingKey(0)
    expect(readingKeySignatures()).toBe(3)
  })

  it('go when the session has ended, also where the user does not want another', async () => {
    const store = nextStore()
    const { source } = await openTab(store)
    await source.readingKey(0)
    wallMs += 25 * hourMs
    const refusing = { ...walletSigner(wallet), signTypedData: () => Promise.reject(new Error('no')) }
    await expect(openTab(nextStore(), refusing)).rejects.toThrow('no')
    expect(store.get(name)).toBeUndefined()
  })

  it('are asked for again when what is kept is of no use', async () => {
    const store = nextStore()
    const { source } = await openTab(store)
    const key = await source.readingKey(0)
    const kept = JSON.parse(store.get(name) ?? '') as Record<string, unknown>
    for (const readingKeys of [null, 7, { 0: '0x12' }, { 0: null }, { 1: toHex(key) }]) {
      store.set(name, JSON.stringify({ ...kept, readingKeys }))
      expect(await (await openTab(nextStore())).source.readingKey(0)).toEqual(key)
    }
    expect(readingKeySignatures()).toBe(6)
  })
})
