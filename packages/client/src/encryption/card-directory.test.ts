import {
  cardHolders,
  cardPublicKeyBytes,
  createIdentity,
  loadCrypto,
  signCard,
  toNodeId,
  toStreamId,
  type Card,
  type CardClaim,
  type Identity,
  type NodeId,
  type StorageAnswer,
  type StorageRequest,
  type WantedNeighbour,
} from '@runnel/protocol'
import { VirtualClock } from '@runnel/transport'
import { beforeEach, expect, it } from 'vitest'
import type { StreamInfo } from '../registry/ports.ts'
import { CardDirectory } from './card-directory.ts'
import { cardLimits } from './card-limits.ts'

const crypto = await loadCrypto()
const identityOf = (n: number): Identity => createIdentity(new Uint8Array(32).fill(n), crypto)
const [user, other] = [identityOf(1), identityOf(2)]
const storageIds = [...'abcdef'].map((digit) => toNodeId(`0x${digit.repeat(40)}`))
const self = toNodeId(`0x${'9'.repeat(40)}`)
/** Besides this node itself, which may be one. */
const holdersOf = ({ nodeId }: Identity): NodeId[] =>
  cardHolders(nodeId, [...storageIds, self]).filter((id) => id !== self)
const placed = holdersOf(user)
const ofStream = storageIds.filter((id) => !placed.includes(id)).slice(0, 1) as [NodeId]
const stream: StreamInfo = {
  ...{ id: toStreamId(`${user.nodeId}/a`), partitions: 1, metadata: '', trackers: [], createdMs: 0 },
}

function cardOf(changes: Partial<CardClaim> = {}, signer = user): Card {
  const publicKey = new Uint8Array(cardPublicKeyBytes)
  const { nodeId: userId } = signer
  const claim = { chainId: 1, userId, generation: 1, dateMs: 0, block: 0, publicKey, ...changes }
  return signCard(claim, crypto, signer)
}

type Answers = (
  request: StorageRequest & { type: 'keepCard' | 'askCards' },
) => StorageAnswer | Error | undefined

/** What storage nodes answer; undefined: nothing. By default they have no cards, and take all. */
let answers: Map<NodeId, Answers>
let asked: NodeId[]
let clock: VirtualClock
let listed: number
let directory: CardDirectory
const stored = (requestId: number, code = '') => ({ type: 'stored', requestId, code, text: '' }) as const
const has =
  (...cards: Card[]): Answers =>
  ({ requestId }) => ({ type: 'cards', requestId, cards })
const byDefault: Answers = (request) =>
  request.type === 'keepCard' ? stored(request.requestId) : has()(request)

/** Until so many were asked. */
const until = (count: number) => expect.poll(() => asked.length).toBe(count)

beforeEach(() => {
  answers = new Map()
  asked = []
  clock = new VirtualClock()
  listed = 0
  const peerOf = (nodeId: NodeId): WantedNeighbour => ({ nodeId, contact: { addresses: [], dials: [] } })
  const askOnce = async (
    { nodeId }: WantedNeighbour,
    _: unknown,
    packetOf: (requestId: number) => StorageRequest,
    signal: AbortSignal,
  ): Promise<StorageAnswer> => {
    asked.push(nodeId)
    const answer = (answers.get(nodeId) ?? byDefault)(packetOf(7) as Parameters<Answers>[0])
    if (answer instanceof Error) throw answer
    if (answer !== undefined) return answer
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')))
    })
  }
  directory = new CardDirectory(cardLimits, {
    ...{ chainId: 1, crypto, clock, nodeId: self, requests: { askOnce } },
    contracts: { accepts: async () => false },
    directory: { storageNodes: async () => ofStream.map(peerOf) },
    listStorageNodes: async () => {
      listed++
      return [...storageIds, self].map((nodeId) => ({ nodeId, url: `ws://127.0.0.1:1/${nodeId}` }))
    },
  })
})

it('puts a card where it is looked for: on three of the network, and those of the stream', async () => {
  expect(await directory.put(cardOf(), stream)).toBe(1 + placed.length)
  expect(asked.toSorted()).toEqual([...ofStream, ...placed].toSorted())
  expect(listed).toBe(1)
})

it('says why nobody took a card, and that one did where one did', async () => {
  for (const id of storageIds) answers.set(id, ({ requestId }) => stored(requestId, 'CARDS_FULL'))
  await expect(directory.put(cardOf())).rejects.toMatchObject({
    code: 'CARD_NOT_KEPT',
    message: expect.stringContaining('CARDS_FULL') as string,
  })
  answers.delete(ofStream[0])
  expect(await directory.put(cardOf(), stream)).toBe(1)
})

it('does not believe a storage node that says that there is a newer card, unless it has one', async () => {
  const newer = cardOf({ generation: 5 })
  const liar: Answers = (request) =>
    request.type === 'keepCard' ? stored(request.requestId, 'CARD_OLDER_GENERATION') : has()(request)
  answers.set(ofStream[0], liar)
  expect(await directory.put(cardOf(), stream)).toBeGreaterThan(0)
  answers.set(ofStream[0], (request) =>
    request.type === 'keepCard' ? liar(request) : has({ ...newer, generation: 6 })(request),
  )
  expect(await directory.put(cardOf(), stream)).toBeGreaterThan(0)
  answers.set(ofStream[0], (request) => (request.type === 'keepCard' ? liar(request) : has(newer)(request)))
  await expect(directory.put(cardOf(), stream)).rejects.toMatchObject({ code: 'CARD_OLDER_GENERATION' })
})

it('asks the storage nodes of the stream, and others for those who are missing there', async () => {
  const [mine, theirs] = [cardOf(), cardOf({}, other)]
  answers.set(ofStream[0], has(mine))
  for (const id of storageIds) if (id !== ofStream[0]) answers.set(id, has(theirs))
  const found = await directory.cardsOf([user.nodeId, other.nodeId, user.nodeId], stream)
  expect(found).toEqual(
    new Map([
      [user.nodeId, mine],
      [other.nodeId, theirs],
    ]),
  )
  expect(asked[0]).toBe(ofStream[0])
  asked.length = 0
  await directory.cardsOf([user.nodeId, other.nodeId], stream)
  expect(asked).toEqual([])
  clock.advanceBy(cardLimits.maxCardAgeMs + 1)
  await directory.cardsOf([user.nodeId], stream)
  expect(asked).toEqual(ofStream)
})

it('takes the newest good card of several storage nodes, and none that it did not ask for', async () => {
  const newest = cardOf({ generation: 3 })
  const [a, b] = placed as [NodeId, NodeId]
  answers.set(a, has(cardOf(), { ...newest, generation: 9 }))
  answers.set(b, has(newest, cardOf({}, other)))
  expect(await directory.cardsOf([user.nodeId])).toEqual(new Map([[user.nodeId, newest]]))
  for (const id of storageIds) answers.set(id, () => new Error('away'))
  // Nothing is known of the other.
  await expect(directory.cardsOf([other.nodeId])).rejects.toMatchObject({ code: 'CARDS_UNAVAILABLE' })
})

it('uses what is known where nobody answers, and says when nothing is', async () => {
  answers.set(placed[0] ?? self, has(cardOf()))
  await directory.cardsOf([user.nodeId])
  clock.advanceBy(cardLimits.maxCardAgeMs + 1)
  for (const id of storageIds) answers.set(id, () => undefined)
  const asking = directory.cardsOf([user.nodeId])
  const failing = directory.cardsOf([other.nodeId])
  const failed = expect(failing).rejects.toMatchObject({
    code: 'CARDS_UNAVAILABLE',
    message: expect.stringContaining('did not answer') as string,
  })
  await until(2 * placed.length + holdersOf(other).length)
  clock.advanceBy(cardLimits.answerTimeoutMs)
  expect(await asking).toEqual(new Map([[user.nodeId, cardOf()]]))
  await failed
})

it('gives one reason for a storage node that was asked twice', async () => {
  for (const id of storageIds) answers.set(id, () => new Error('away'))
  await expect(directory.cardsOf([user.nodeId], stream)).rejects.toMatchObject({
    code: 'CARDS_UNAVAILABLE',
    message: expect.not.stringMatching(/away.*away/) as string,
  })
})

it('ends when it is told to', async () => {
  for (const id of storageIds) answers.set(id, () => undefined)
  const controller = new AbortController()
  const asking = [directory.cardsOf([user.nodeId], undefined, controller.signal)]
  const putting = directory.put(cardOf(), undefined, controller.signal)
  const ended = [...asking, putting].map((one) => expect(one).rejects.toMatchObject({ code: 'ABORTED' }))
  await until(2 * placed.length)
  controller.abort()
  await Promise.all(ended)
})
