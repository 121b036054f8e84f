import { ciphers, type Card, type NodeId } from '@runnel/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { clientError } from '../errors.ts'
import { keysOnly } from '../identity/request-signature.ts'
import { OwnCard } from './own-card.ts'
import { GivenReadingKey } from './reading-key-sources.ts'
import { crypto, streamId, userOf } from './world.testkit.ts'

const user = await userOf('alice')
const other = await userOf('bob')
const asked: {
  readonly signal: AbortSignal | undefined
  readonly answer: (key: Uint8Array) => void
  readonly refuse: (error: Error) => void
}[] = []

let closing: AbortController
let card: Card
let own: OwnCard
beforeEach(() => {
  asked.length = 0
  card = user.card
  closing = new AbortController()
  own = new OwnCard({
    ...{ userId: user.userId, ciphers, crypto, signal: closing.signal },
    source: {
      ...{ onlyGeneration: undefined, isSilent: false, signCard: async () => user.card },
      // A wallet that answers when its user does.
      readingKey: (_, signal) =>
        new Promise<Uint8Array>((answer, reject) => {
          asked.push({ signal, answer, refuse: reject })
          signal?.addEventListener('abort', () => reject(clientError('ABORTED')))
        }),
    },
    directory: {
      put: async () => {},
      cardsOf: async () => new Map<NodeId, Card>([[user.userId, card]]),
    },
  })
})

const stream = { id: streamId, partitions: 1, metadata: '', trackers: [], createdMs: 0 }

describe('the card of a user, whose key is asked for', () => {
  it('comes for all who wait, though the first of them goes', async () => {
    const first = new AbortController()
    const waiting = [own.ensure(undefined, first.signal), own.ensure(undefined, closing.signal)] as const
    await expect.poll(() => asked.length).toBe(1)
    first.abort()
    await expect(waiting[0]).rejects.toMatchObject({ code: 'ABORTED' })
    asked[0]?.answer(user.readingKey)
    expect(await waiting[1]).toEqual(user.card)
  })

  it('is not waited for when the client closes', async () => {
    const waiting = own.ensure(undefined, new AbortController().signal)
    await expect.poll(() => asked.length).toBe(1)
    closing.abort()
    await expect(waiting).rejects.toMatchObject({ code: 'ABORTED' })
  })

  it('is the next one when the user took that into use elsewhere, and stays where its key cannot be had', async () => {
    const { signal } = closing
    const opened = own.ensure(stream, signal)
    await expect.poll(() => asked.length).toBe(1)
    asked[0]?.answer(user.readingKey)
    await opened
    await own.refresh(stream, signal)
    expect(asked).toHaveLength(1)
    card = { ...user.card, generation: 1, publicKey: other.card.publicKey }
    const failed = own.refresh(stream, signal)
    await expect.poll(() => asked.length).toBe(2)
    asked[1]?.answer(user.readingKey)
    await expect(failed).rejects.toMatchObject({ code: 'READING_KEY_CHANGED' })
    expect(await own.ensure(stream, signal)).toEqual(user.card)
    card = { ...card, generation: 2 }
    const refused = own.refresh(stream, signal)
    await expect.poll(() => asked.length).toBe(3)
    asked[2]?.refuse(clientError('WALLET_REFUSED'))
    for (const again of [refused, own.refresh(stream, signal)])
      await expect(again).rejects.toMatchObject({ code: 'WALLET_REFUSED' })
    expect(asked).toHaveLength(3)
    card = { ...card, generation: 3 }
    const refreshed = own.refresh(stream, signal)
    await expect.poll(() => asked.length).toBe(4)
    asked[3]?.answer(other.readingKey)
    await refreshed
    expect(await own.ensure(stream, signal)).toEqual(card)
  })
})

it('a key that was given says so when its user took the next one into use', async () => {
  const { userId, readingKey } = user
  const source = new GivenReadingKey(
    { userId, readingKey, generation: 0, chainId: user.card.chainId, card: user.card },
    { accounts: keysOnly, crypto, clock: { now: () => user.card.dateMs } },
  )
  let found = user.card
  const directory = {
    put: async () => {},
    cardsOf: async () => new Map<NodeId, Card>([[userId, found]]),
  }
  const { signal } = new AbortController()
  const given = new OwnCard({ userId, source, directory, ciphers, crypto, signal })
  await given.ensure(stream, signal)
  await given.refresh(stream, signal)
  found = { ...user.card, generation: 1, publicKey: other.card.publicKey }
  await expect(given.refresh(stream, signal)).rejects.toMatchObject({ code: 'READING_KEY_OTHER_GENERATION' })
  expect(await given.ensure(stream, signal)).toEqual(user.card)
})
