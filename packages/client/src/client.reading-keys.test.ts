import { createIdentity, isCardSignedByKey, loadCrypto, parsePrivateKey, type Card } from '@runnel/protocol'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Clients } from './client.testkit.ts'
import type { Cards } from './encryption/ports.ts'
import { exportReadingKey, keySigner } from './index.ts'

const crypto = await loadCrypto()
const privateKey = '5e'.repeat(32)
const { nodeId: userId } = createIdentity(parsePrivateKey(privateKey), crypto)
const clients = new Clients({
  network: { kind: 'static', document: { version: 1, trackers: [], streams: [] } },
})

let kept: Card[]
beforeEach(() => {
  kept = []
})
afterEach(() => clients.closeAll())
const cards: Cards = {
  put: async (card) => void kept.push(card),
  cardsOf: async () => new Map(kept.slice(-1).map((card) => [card.userId, card])),
}

it('a user renews its reading key, with any process that has its key', async () => {
  for (const user of [{ privateKey }, { signer: keySigner(privateKey) }]) {
    const client = await clients.create(user, { cards })
    const card = await client.renewReadingKey()
    expect(isCardSignedByKey(card, crypto)).toBe(true)
  }
  expect(kept.map((card) => [card.userId, card.generation])).toEqual([
    [userId, 1],
    [userId, 2],
  ])
})

it('a reading key that was given is renewed by the next one, not by itself', async () => {
  const readingKey = await exportReadingKey(keySigner(privateKey), { chainId: 0 })
  const client = await clients.create({ privateKey, readingKey }, { cards })
  await expect(client.renewReadingKey()).rejects.toMatchObject({ code: 'READING_KEY_OTHER_GENERATION' })
  const next = await exportReadingKey(keySigner(privateKey), { chainId: 0, generation: 1 })
  const successor = await clients.create({ privateKey, readingKey: next }, { cards })
  expect(await successor.renewReadingKey()).toMatchObject({ userId, generation: 1 })
})
