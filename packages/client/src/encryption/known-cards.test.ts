import {
  cardPublicKeyBytes,
  createIdentity,
  loadCrypto,
  signCard,
  type Card,
  type CardClaim,
} from '@runnel/protocol'
import { beforeEach, expect, it } from 'vitest'
import { clientError } from '../errors.ts'
import { KnownCards } from './known-cards.ts'

const crypto = await loadCrypto()
const [user, other] = [5, 6].map((n) => createIdentity(new Uint8Array(32).fill(n), crypto)) as [
  ReturnType<typeof createIdentity>,
  ReturnType<typeof createIdentity>,
]
const { nodeId: userId } = user

function cardOf(changes: Partial<CardClaim> = {}, signer = user): Card {
  const publicKey = new Uint8Array(cardPublicKeyBytes)
  const claim = { chainId: 1, userId, generation: 0, dateMs: 1_000, block: 0, publicKey, ...changes }
  return signCard(claim, crypto, signer)
}

/** What the contract at the user's address says. */
let isBacked: boolean | Error
let asked: number
let cards: KnownCards
beforeEach(() => {
  isBacked = true
  asked = 0
  const accepts = async () => {
    asked++
    if (isBacked instanceof Error) throw isBacked
    return isBacked
  }
  const modules = { chainId: 1, contracts: { accepts }, crypto, clock: { now: () => 10_000 } }
  cards = new KnownCards({ maxCachedCards: 2 }, modules)
})

it('give the newest of several cards that is good', async () => {
  const [old, newer] = [cardOf(), cardOf({ generation: 3 })]
  const forged = cardOf({ generation: 9 }, other)
  const [early, foreign] = [
    cardOf({ generation: 8, dateMs: 10_000_000 }),
    cardOf({ generation: 7, chainId: 2 }),
  ]
  expect(await cards.newestOf(userId, [old, forged, newer, early, foreign], 5)).toBe(newer)
  expect(await cards.newestOf(userId, [], 5)).toBe(newer)
  expect(asked).toBe(0)
})

it('never go back to an older one', async () => {
  const newer = cardOf({ generation: 3 })
  await cards.newestOf(userId, [newer], 5)
  expect(await cards.newestOf(userId, [cardOf(), cardOf({ generation: 3, dateMs: 999 })], 6)).toBe(newer)
  const next = cardOf({ generation: 3, dateMs: 1_001 })
  expect(await cards.newestOf(userId, [next, newer], 7)).toBe(next)
})

it('are used until they are too old, and no more than there is room for', async () => {
  await cards.newestOf(userId, [cardOf()], 5)
  expect([cards.get(userId, 5), cards.get(userId, 6)]).toEqual([cardOf(), undefined])
  for (const n of [20, 21]) {
    const one = createIdentity(new Uint8Array(32).fill(n), crypto)
    await cards.newestOf(one.nodeId, [cardOf({ userId: one.nodeId }, one)], 5)
  }
  expect(cards.get(userId, 0)).toBeUndefined()
})

it('of a contract are good as long as it backs them', async () => {
  const card = cardOf({ block: 7 }, other)
  expect(await cards.newestOf(userId, [card], 5)).toBe(card)
  isBacked = false
  expect(await cards.newestOf(userId, [card], 6)).toBeUndefined()
  // An older one is not taken instead.
  isBacked = true
  expect(await cards.newestOf(userId, [cardOf({ block: 7, dateMs: 5 }, other)], 6)).toBe(card)
  isBacked = clientError('CHAIN_UNREACHABLE')
  expect(await cards.newestOf(userId, [card], 7)).toBeUndefined()
  expect(asked).toBe(4)
})
