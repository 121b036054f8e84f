import {
  cardPublicKeyBytes,
  createIdentity,
  generatePrivateKey,
  isCardSignedByKey,
  loadCrypto,
  protocolError,
  seededRandom,
  signCard,
  type Card,
  type CardClaim,
  type Identity,
} from '@runnel/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { clientError } from '@runnel/client'
import { storageLimits } from '../storage-limits.ts'
import { openTestStore, TestClock, TestLinks, turns, until, type TestStore } from '../storage.testkit.ts'
import { Answers } from '../server/answers.ts'
import { createLinkRoom } from '../server/link-room.ts'
import { LinkSignals } from '../server/link-signals.ts'
import { nodeId } from '../store/batches.testkit.ts'
import { CardKeeper } from './card-keeper.ts'
import { CardServer } from './card-server.ts'

const crypto = await loadCrypto()
const users = Array.from({ length: 6 }, (_, i) =>
  createIdentity(generatePrivateKey(seededRandom(`user ${i}`)), crypto),
)
const [user, other] = users as [Identity, Identity]

function cardOf(identity = user, changes: Partial<CardClaim> = {}): Card {
  const publicKey = new Uint8Array(cardPublicKeyBytes).fill(3)
  const claim = { chainId: 1, userId: identity.nodeId, generation: 2, dateMs: 1_000, block: 0, publicKey }
  return signCard({ ...claim, ...changes }, crypto, identity)
}

let store: TestStore
let clock: TestClock
let checked: number
beforeEach(async () => {
  store = await openTestStore()
  clock = new TestClock()
  checked = 0
})
afterEach(() => store.remove())

async function check(card: Card): Promise<void> {
  checked++
  if (card.block > 0) throw clientError('CONTRACT_NEEDS_CHAIN')
  if (!isCardSignedByKey(card, crypto)) throw protocolError('CARD_FORGED')
}

const keeperOf = (maxCards: number = storageLimits.maxCards) =>
  new CardKeeper({ ...storageLimits, maxCards }, { store: store.store, check, clock })

describe('a keeper of cards', () => {
  it('keeps the newest card of a user, and says what is wrong with the others', async () => {
    const keeper = keeperOf()
    await keeper.keep(cardOf())
    await keeper.keep(cardOf(user, { dateMs: 1_001 }))
    const newest = cardOf(user, { generation: 3, dateMs: 5 })
    await keeper.keep(newest)
    const refused = async (card: Card, code: string) =>
      expect(keeper.keep(card)).rejects.toMatchObject({ code })
    await refused(cardOf(user, { dateMs: 9_999 }), 'CARD_OLDER_GENERATION')
    await refused(cardOf(user, { generation: 3, dateMs: 4 }), 'CARD_REPLAYED')
    await refused({ ...cardOf(user, { generation: 4 }), userId: other.nodeId }, 'CARD_FORGED')
    await refused({ ...newest, generation: 4 }, 'CARD_FORGED')
    await refused(cardOf(user, { generation: 4, block: 7 }), 'CONTRACT_NEEDS_CHAIN')
    expect(await keeper.of([user.nodeId, other.nodeId])).toEqual([newest])
    expect(keeper.status()).toEqual({ kept: 3, refused: 5, evicted: 0 })
  })

  it('takes a card that it has again, without checking it again', async () => {
    const keeper = keeperOf()
    await keeper.keep(cardOf())
    await keeper.keep({ ...cardOf(), signature: new Uint8Array(65) })
    expect(await keeper.of([user.nodeId])).toEqual([cardOf()])
    expect([checked, keeper.status().kept]).toEqual([1, 1])
  })

  it('keeps the newest of cards that come at once', async () => {
    const keeper = keeperOf()
    const cards = [4, 6, 5].map((generation) => cardOf(user, { generation }))
    const outcomes = await Promise.allSettled(cards.map((card) => keeper.keep(card)))
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    expect(await keeper.of([user.nodeId])).toEqual([cards[1]])
  })

  it('has the oldest cards of strangers go when there are too many, and then refuses more', async () => {
    const keeper = keeperOf(3)
    const [a, b, c, d, e, f] = users
    const keep = async (identity: Identity | undefined) => {
      clock.pass(1)
      await keeper.keep(cardOf(identity))
    }
    const kept = async () => (await keeper.of(users.map(({ nodeId: id }) => id))).map(({ userId }) => userId)
    const idsOf = (...some: (Identity | undefined)[]) => some.map((one) => one?.nodeId)
    await keeper.memberSeen(a?.nodeId ?? user.nodeId)
    for (const identity of [a, b, c, d]) await keep(identity)
    expect(await kept()).toEqual(idsOf(a, c, d))
    await keeper.memberSeen(c?.nodeId ?? user.nodeId)
    await keep(e)
    expect(await kept()).toEqual(idsOf(a, c, e))
    await keeper.memberSeen(e?.nodeId ?? user.nodeId)
    await expect(keep(f)).rejects.toMatchObject({ code: 'CARDS_FULL' })
    // Of whom there is one already, a newer one takes no room.
    await keeper.keep(cardOf(a, { generation: 9 }))
    expect(keeper.status()).toEqual({ kept: 6, refused: 1, evicted: 2 })
    // After a restart, too.
    await expect(keeperOf(3).keep(cardOf(f))).rejects.toMatchObject({ code: 'CARDS_FULL' })
  })
})

describe('a server of cards', () => {
  const peer = nodeId(7)
  let links: TestLinks
  let signals: LinkSignals
  let errors: unknown[]
  beforeEach(() => {
    links = new TestLinks()
    signals = new LinkSignals()
    errors = []
  })
  const serverOf = (
    changes: Partial<typeof storageLimits> = {},
    cards: Pick<CardKeeper, 'keep' | 'of'> = keeperOf(),
  ) => {
    const limits = { ...storageLimits, ...changes }
    const room = createLinkRoom({ lowMarkBytes: 1_000, pollMs: 5 }, { network: links, clock })
    const answers = new Answers(limits, { network: links, room })
    return new CardServer(limits, {
      ...{ network: links, answers, links: signals, cards, clock },
      onError: (error) => errors.push(error),
    })
  }
  const codes = () => links.packets('stored').map(({ requestId, code }) => [requestId, code])

  it('keeps cards, gives those that it has, and says what it refuses', async () => {
    const server = serverOf()
    server.handle(peer, { type: 'keepCard', requestId: 1, card: cardOf() })
    await until(() => links.sent.length === 1)
    server.handle(peer, { type: 'keepCard', requestId: 2, card: cardOf(user, { generation: 0 }) })
    await until(() => links.sent.length === 2)
    const userIds = [user.nodeId, other.nodeId]
    server.handle(peer, { type: 'askCards', requestId: 3, userIds })
    await until(() => links.sent.length === 3)
    expect(codes()).toEqual([
      [1, ''],
      [2, 'CARD_OLDER_GENERATION'],
    ])
    expect(links.packets('cards')).toEqual([{ type: 'cards', requestId: 3, cards: [cardOf()] }])
    expect(links.held.get(peer)).toBe(0)
    expect(errors).toEqual([])
  })

  it('takes so many cards and asks of a link, and more with time', async () => {
    const server = serverOf({
      cardBurst: 1,
      cardsPerSecond: 0.1,
      cardAskBurst: 1,
      cardAsksPerSecond: 1,
    } as never)
    const put = (requestId: number) => server.handle(peer, { type: 'keepCard', requestId, card: cardOf() })
    const ask = (requestId: number) => server.handle(peer, { type: 'askCards', requestId, userIds: [] })
    for (const requestId of [1, 2]) put(requestId)
    for (const requestId of [3, 4]) ask(requestId)
    await until(() => links.sent.length === 4)
    expect(codes().toSorted()).toEqual([
      [1, ''],
      [2, 'TOO_MANY_REQUESTS'],
      [4, 'TOO_MANY_REQUESTS'],
    ])
    expect(server.refused).toBe(2)
    clock.pass(10_000)
    put(5)
    await until(() => links.sent.length === 5)
    expect(codes().at(-1)).toEqual([5, ''])
    put(6)
    server.linkClosed(peer)
    put(7)
    await until(() => links.sent.length === 7)
    expect(codes().slice(-2)).toEqual([
      [6, 'TOO_MANY_REQUESTS'],
      [7, ''],
    ])
  })

  it('says that the store failed, and nothing of why; and that it stops', async () => {
    const failing = { keep: () => Promise.reject(new Error('/secret/path')), of: () => Promise.resolve([]) }
    const server = serverOf({}, failing)
    server.handle(peer, { type: 'keepCard', requestId: 1, card: cardOf() })
    await server.stop()
    server.handle(peer, { type: 'askCards', requestId: 2, userIds: [] })
    expect(codes()).toEqual([
      [1, 'STORE_FAILED'],
      [2, 'SHUTTING_DOWN'],
    ])
    expect(links.packets('stored')[0]?.text).not.toContain('secret')
    expect(errors).toHaveLength(1)
  })

  describe('on a full link', () => {
    beforeEach(() => {
      links.queued = 1_001
      links.isFull = true
    })
    const ask = (server: CardServer, requestId: number) =>
      server.handle(peer, { type: 'askCards', requestId, userIds: [user.nodeId] })

    it('answers and refuses when there is room, and keeps no other peer from being served', async () => {
      const server = serverOf({ cardAskBurst: 2, maxCardRequests: 1 } as never)
      server.handle(peer, { type: 'keepCard', requestId: 1, card: cardOf() })
      await until(() => links.held.get(peer) === 2)
      for (const requestId of [2, 3, 4]) ask(server, requestId)
      await turns(20)
      expect(links.sent).toEqual([])
      links.drain()
      await until(() => links.sent.length === 4)
      expect(links.packets('cards')).toEqual([{ type: 'cards', requestId: 2, cards: [cardOf()] }])
      expect(codes().toSorted()).toEqual([
        [1, ''],
        [3, 'TOO_MANY_REQUESTS'],
        [4, 'TOO_MANY_REQUESTS'],
      ])
      await until(() => links.held.get(peer) === 0)
    })

    it('lets so many answers wait', async () => {
      const server = serverOf({ maxWaitingAnswersPerPeer: 2 } as never)
      for (const requestId of [1, 2, 3]) ask(server, requestId)
      await until(() => links.held.get(peer) === 4)
      links.drain()
      await until(() => links.held.get(peer) === 0)
      expect(links.packets('cards')).toHaveLength(2)
    })

    it.each([
      ['the link closes', () => signals.closed(peer)],
      ['it is stopped', (server: CardServer) => void server.stop()],
    ])('waits no longer when %s', async (_, end) => {
      const server = serverOf()
      ask(server, 1)
      await turns(20)
      end(server)
      await until(() => links.held.get(peer) === 0)
      await server.stop()
      expect(links.sent).toEqual([])
    })
  })
})
