import { encodeCard, toBase64Url, type Card, type NodeId } from '@runnel/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { streamId, userOf } from '../encryption/world.testkit.ts'
import { clientError } from '../errors.ts'
import { Streams, type StreamsModules } from './streams.ts'

const { userId, card } = await userOf('reader')
const grant = { user: userId, permissions: ['subscribe'] as const, card: toBase64Url(encodeCard(card)) }

let done: string[]
let known: () => ReadonlyMap<NodeId, Card>
let streams: Streams
beforeEach(() => {
  done = []
  known = () => new Map()
  const registry = {
    writer: { grant: async () => void done.push('granted') },
    cache: { getStream: async () => undefined },
  }
  streams = new Streams(
    { account: userId, userId },
    {
      registry: registry as unknown as StreamsModules['registry'],
      keys: { checkCard: async () => {}, passOn: async () => void done.push('passed on') },
      cards: { cardsOf: async () => known() },
      clock: { now: () => 0 },
    },
  )
})

describe('a grant with a card', () => {
  it('is refused before anything is granted where a card of a later generation is known', async () => {
    known = () => new Map([[userId, { ...card, generation: card.generation + 1 }]])
    await expect(streams.grant(streamId, grant)).rejects.toMatchObject({ code: 'CARD_OLDER_GENERATION' })
    expect(done).toEqual([])
  })

  it.each([
    ['the same one is known', () => new Map([[userId, card]])],
    ['none is known', () => new Map()],
    [
      'no storage node answers',
      () => {
        throw clientError('CARDS_UNAVAILABLE')
      },
    ],
  ])('is made where %s', async (_, cards) => {
    known = cards
    await streams.grant(streamId, grant)
    expect(done).toEqual(['granted', 'passed on'])
  })
})
