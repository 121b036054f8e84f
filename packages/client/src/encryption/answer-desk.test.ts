import {
  bytesOfEpochId,
  ciphers,
  encodeCard,
  seededRandom,
  toEpochId,
  type Card,
  type KeyRecord,
} from '@runnel/protocol'
import { VirtualClock } from '@runnel/transport'
import { beforeEach, describe, expect, it } from 'vitest'
import { noPermissions } from '../registry/ports.ts'
import { AnswerDesk } from './answer-desk.ts'
import { hpkeSuite } from './hpke.ts'
import { KnownKeys } from './known-keys.ts'
import { ReaderSet } from './reader-set.ts'
import { openAnswer } from './sealed-records.ts'
import { crypto, streamId, turns, userOf, type TestUser } from './world.testkit.ts'

const [reader, other] = (await Promise.all(['reader', 'other'].map(userOf))) as [TestUser, TestUser]
const { signal } = new AbortController()
// Loaded before, an answer takes turns of the event loop and nothing else.
await hpkeSuite('noble')
const pauseMs = 5_000

let clock: VirtualClock
let known: KnownKeys
let published: KeyRecord[]
let untilMs: number
let publishUntilMs: number
let directory: Map<string, Card>
let looked: number
/** The epoch of the opener, if it is one. */
let current: string | undefined
let linked: Card[]
beforeEach(() => {
  clock = new VirtualClock()
  known = new KnownKeys({ ciphers })
  published = []
  untilMs = Infinity
  publishUntilMs = 0
  directory = new Map()
  looked = 0
  current = undefined
  linked = []
})
const key = (byte: number) => new Uint8Array(32).fill(byte)
const deskOf = (choice: ConstructorParameters<typeof AnswerDesk>[0]['choice'] = {}) => {
  const permissionsOf = async () => ({ ...noPermissions, subscribeUntilMs: untilMs, publishUntilMs })
  const list = async () => {
    const entries =
      Math.max(untilMs, publishUntilMs) > 0 ? [{ user: reader.userId, ...(await permissionsOf()) }] : []
    return { entries, block: 0, lossBlock: 0 }
  }
  const epoch = () => ({ id: toEpochId(current as string) as never, publisherKey: key(0) })
  return new AnswerDesk({
    ...{ streamId, choice, ciphers, crypto, clock, random: seededRandom('desk'), known, signal },
    readers: new ReaderSet({ streamId }, { clock, list, permissionsOf }),
    keyPart: {
      publish: (messageChainId, record) => {
        published.push(record)
        const place = { streamId, partition: 100, publisherId: other.userId, messageChainId }
        return { ...place, timestamp: 0, sequenceNumber: 0 }
      },
    },
    opener: {
      get isOpen() {
        return current !== undefined
      },
      get current() {
        return epoch()
      },
      epoch: async () => epoch(),
      linkTo: async (card) => void linked.push(card),
    },
    cardsOf: async () => {
      looked++
      return new Map(directory as never)
    },
    onPublished: () => {},
  })
}
const place = { timestamp: 0, sequenceNumber: 0 }
const request = (desk: AnswerDesk, ids: readonly string[], card: Uint8Array = encodeCard(reader.card)) => {
  const wanted = ids.map((id) => bytesOfEpochId(id as never))
  const record: KeyRecord = { kind: 'request', card, wanted }
  desk.receive({ publisherId: reader.userId, messageChainId: 'r', record, place })
}
const ask = async (desk: AnswerDesk, ids: readonly string[], card?: Uint8Array) => {
  request(desk, ids, card)
  clock.advanceBy(500)
  await turns(20)
}
/** Somebody else sends the reader an answer that holds nothing. */
const answerInVain = (desk: AnswerDesk) => {
  const nothing = { kind: 'answer', readerId: reader.userId, cardHash: key(0) } as const
  const record = { ...nothing, encapsulated: new Uint8Array(1120), sealed: new Uint8Array(48) }
  desk.receive({ publisherId: other.userId, messageChainId: 'a', record, place })
}
const keysFor = async ({ readingKey, cardPrivateKey: privateKey }: TestUser) => {
  const keys = await Promise.all(
    published.map((one) =>
      one.kind === 'answer'
        ? openAnswer(streamId, one, [{ generation: 0, readingKey, privateKey }])
        : Promise.resolve([]),
    ),
  )
  return keys.flat()
}

describe('a reader that asks for keys', () => {
  it('gets those that it wants and that are known', async () => {
    const { id } = known.add(key(1))
    known.add(key(2))
    await ask(deskOf(), [id, 'AAAAAAAA'])
    expect(await keysFor(reader)).toEqual([key(1)])
    expect(await keysFor(other)).toEqual([])
  })

  it('costs nobody anything who has not got what it wants', async () => {
    await ask(deskOf(), ['AAAAAAAA'])
    expect([published.length, looked]).toEqual([0, 0])
  })

  it('gets nothing where it may not read', async () => {
    const { id } = known.add(key(1))
    current = id
    untilMs = 0
    await ask(deskOf(), [id])
    expect([published, linked]).toEqual([[], []])
  })

  it('and may only publish gets a link from an opener, and nothing from others', async () => {
    const { id } = known.add(key(1))
    untilMs = 0
    publishUntilMs = Infinity
    await ask(deskOf(), [id])
    expect([published, linked]).toEqual([[], []])
    current = id
    await ask(deskOf(), [id])
    expect([published, linked]).toEqual([[], [reader.card]])
  })

  it('gets what was made before its permission ends, and in its last five minutes nothing of an unknown date', async () => {
    untilMs = clock.now() + 60_000
    const ids = [undefined, untilMs - 1, untilMs].map((createdMs, i) => known.add(key(i), createdMs).id)
    await ask(deskOf(), ids)
    expect(await keysFor(reader)).toEqual([key(1)])
  })

  it('is answered once in five seconds, however often it asks', async () => {
    const { id } = known.add(key(1))
    const desk = deskOf()
    for (let i = 0; i < 8; i++) await ask(desk, [id])
    expect(published).toHaveLength(1)
    clock.advanceBy(pauseMs)
    await ask(desk, [id])
    expect(published).toHaveLength(2)
  })

  it('is answered at once when it may read, although it was refused just before', async () => {
    const { id } = known.add(key(1))
    const desk = deskOf()
    untilMs = 0
    await ask(desk, [id])
    untilMs = Infinity
    await ask(desk, [id])
    expect(published).toHaveLength(0)
    desk.permissionsChanged(reader.userId)
    await ask(desk, [id])
    expect(published).toHaveLength(1)
  })

  it('is not answered twice where somebody else did, unless it goes on asking', async () => {
    const { id } = known.add(key(1))
    const desk = deskOf()
    request(desk, [id])
    answerInVain(desk)
    clock.advanceBy(500)
    await turns(20)
    expect(published).toEqual([])
    await ask(desk, [id])
    expect(await keysFor(reader)).toEqual([key(1)])
  })

  it('is answered although somebody else sends it an answer of no use each time it asks', async () => {
    const { id } = known.add(key(1))
    const desk = deskOf()
    const askAndDisturb = async () => {
      request(desk, [id])
      answerInVain(desk)
      clock.advanceBy(2_000)
      await turns(20)
    }
    await askAndDisturb()
    await askAndDisturb()
    expect(await keysFor(reader)).toEqual([key(1)])
    // Later it may be of use.
    published = []
    clock.advanceBy(20_000)
    await askAndDisturb()
    expect(published).toEqual([])
  })

  it('gets a link and keys from an opener, whatever others answered', async () => {
    const { id } = known.add(key(1))
    current = id
    const desk = deskOf()
    await ask(desk, [id])
    expect(linked).toEqual([reader.card])
    expect(await keysFor(reader)).toEqual([key(1)])
  })

  it('gets only what is in use now from an opener where there is no history, and nothing from others', async () => {
    const [old, present] = [known.add(key(1)).id, known.add(key(2)).id]
    await ask(deskOf({ history: 'none' }), [old, present])
    expect(published).toEqual([])
    current = present
    await ask(deskOf({ history: 'none' }), [old, present])
    expect(await keysFor(reader)).toEqual([key(2)])
  })

  it.each([
    ['of somebody else', () => encodeCard(other.card)],
    ['that is forged', () => encodeCard({ ...reader.card, publicKey: other.card.publicKey })],
    ['of a day to come', () => encodeCard({ ...reader.card, dateMs: Date.UTC(2100, 0, 1) })],
    ['that is none', () => Uint8Array.of(1, 2, 3)],
  ])('gets nothing for a card %s', async (_, bytes) => {
    const { id } = known.add(key(1))
    await ask(deskOf(), [id], bytes())
    expect(published).toEqual([])
  })

  it('is answered for the card that storage nodes have, where its own is no card or older', async () => {
    const { id } = known.add(key(1))
    directory.set(reader.userId, { ...other.card, userId: reader.userId, generation: 1 })
    await ask(deskOf(), [id])
    expect(published.map((one) => 'cardHash' in one)).toEqual([true])
    expect(await keysFor(reader)).toEqual([])
  })
})
