import { VirtualClock } from '@runnel/transport'
import {
  bytesOfEpochId,
  ciphers,
  commitmentOf,
  epochIdOf,
  seededRandom,
  type EncryptionChoice,
  type EpochId,
  type KeyRecord,
  type NodeId,
  answerChain,
  cohortChain,
  epochChain,
  linkChain,
  newestChain,
  keyBytes,
} from '@runnel/protocol'
import { encodeKeyRecord } from '@runnel/protocol/key-records'
import { beforeEach, describe, expect, it } from 'vitest'
import { clientError } from '../errors.ts'
import { planEpoch, type EpochKey, type PlannedEpoch } from './epoch-plan.ts'
import { KeyFinder } from './key-finder.ts'
import { Keyring } from './keyring.ts'
import { KnownKeys } from './known-keys.ts'
import { sealAnswer, sealLinks } from './sealed-records.ts'
import { streamId, userOf, type TestUser } from './world.testkit.ts'

const [opener, reader, stranger] = (await Promise.all(['opener', 'reader', 'stranger'].map(userOf))) as [
  TestUser,
  TestUser,
  TestUser,
]
const random = seededRandom('finder')
const keyring = new Keyring({ master: random.bytes(32) }, { ciphers })
const { signal } = new AbortController()

let records: Map<string, { publisherId: NodeId; messageChainId: string; record: KeyRecord }>
/** The newest records of all are others. */
let isBuried: boolean
let looks: number
let known: KnownKeys
let granters: readonly NodeId[]
let clock: VirtualClock
let refresh: () => Promise<void>
let choice: EncryptionChoice
let finder: KeyFinder
beforeEach(() => {
  choice = { history: 'none' }
  records = new Map()
  isBuried = false
  looks = 0
  granters = []
  refresh = () => Promise.reject(clientError('CHAIN_UNREACHABLE'))
  known = new KnownKeys({ ciphers })
  clock = new VirtualClock()
  finder = new KeyFinder({
    ...{ userId: reader.userId, streamId, ciphers, clock, known, keyring: () => undefined },
    get choice() {
      return choice
    },
    keyPart: {
      find: async (publisherId, chain) => {
        looks++
        return records.get(`${publisherId} ${chain}`)?.record
      },
      newest: async () =>
        (isBuried ? [] : [...records.values()]).map((one) => ({
          ...one,
          place: { timestamp: 0, sequenceNumber: 0 },
        })),
    },
    cardKeys: async () => [
      { generation: 0, readingKey: reader.readingKey, privateKey: reader.cardPrivateKey },
    ],
    openersFor: () => [opener.userId],
    readers: {
      refresh: () => refresh(),
      get granters() {
        return granters
      },
    },
  })
})
const put = (messageChainId: string, record: KeyRecord, { userId }: TestUser = opener) => {
  encodeKeyRecord(record)
  records.set(`${userId} ${messageChainId}`, { publisherId: userId, messageChainId, record })
}
const holder = ({ userId, cardHash }: TestUser) => ({ userId, cardHash })
const plan = (
  users: readonly TestUser[],
  earlier: readonly EpochKey[] = [],
  more = 0,
  createdMs = 0,
): PlannedEpoch => {
  const others = Array.from({ length: more }, (_, i) => ({
    userId: `0x${i.toString(16).padStart(40, '0')}` as NodeId,
    cardHash: new Uint8Array(32),
  }))
  const planned = planEpoch(
    {
      readers: [...users.map(holder), ...others],
      ...{ publishers: [], earlier, cohorts: [], createdMs, readersAtBlock: 0 },
    },
    { keyring, ciphers, random },
  )
  put(epochChain(planned.id), planned.record)
  for (const { cohortId, record } of planned.newCohorts) put(cohortChain(cohortId), record)
  put(newestChain, { kind: 'newest', keyringId: keyring.id, commitment: planned.commitment })
  return planned
}
const link = async (
  to: TestUser,
  { key, id }: Partial<EpochKey> & Pick<EpochKey, 'id'>,
  isForReader = true,
  from = opener,
) => {
  const epochId = bytesOfEpochId(id)
  const secret = { secret: keyring.linkSecret(to.userId, to.cardHash), epochId, key, isForReader }
  const recipient = { ...holder(to), publicKey: to.card.publicKey }
  const source = { streamId, openerId: from.userId, keyringId: keyring.id }
  const [made] = await sealLinks(source, [{ to: recipient, secret }], ciphers)
  if (made === undefined) throw new Error('no link')
  put(made.chain, made.record)
  return made.record
}
const answer = async (keys: readonly Uint8Array[], from: TestUser) => {
  const to = { ...holder(reader), publicKey: reader.card.publicKey }
  const made = await sealAnswer(streamId, to, keys)
  if (made === undefined) throw new Error('no answer')
  put(answerChain(ciphers, reader.userId), made, from)
}
const look = (id: EpochId) => finder.look({ publisherId: opener.userId, id }, signal)

describe('the key of an epoch', () => {
  it('is found by a link and the epoch that names the reader', async () => {
    const first = plan([opener, reader])
    await link(reader, first)
    const second = plan([reader], [], 0, 7)
    expect(await look(second.id)).toBe(true)
    expect(known.epochs(second.id)).toMatchObject([{ key: second.key, createdMs: 7 }])
  })

  it('is found by a link where all other records of the opener were lost', async () => {
    const epoch = plan([reader])
    records.clear()
    await link(reader, epoch)
    expect(await look(epoch.id)).toBe(true)
    expect(known.epochs(epoch.id)[0]?.key).toEqual(epoch.key)
  })

  it('is found in the cohort of the reader', async () => {
    const first = plan([])
    await link(reader, first)
    const second = plan([reader], [], 200)
    expect(second.record.readers).toEqual([])
    expect(await look(second.id)).toBe(true)
  })

  it('is found by going back from the epoch of a link without a key, though the reader is in no later one', async () => {
    const oldest = plan([])
    const { id } = plan([reader], [oldest])
    await link(reader, { id })
    plan([stranger])
    expect(await look(oldest.id)).toBe(true)
    expect(known.epochs(oldest.id)[0]?.key).toEqual(oldest.key)
  })

  it('is found by going back from what a link begins with', async () => {
    const epochs: PlannedEpoch[] = []
    for (let i = 0; i < 40; i++) epochs.unshift(plan([], epochs.slice(0, 2), 0, i))
    await link(reader, epochs[0] as PlannedEpoch)
    const { id } = epochs.at(-1) as PlannedEpoch
    expect(await look(id)).toBe(true)
    // It is not younger than one that leads to it.
    expect(known.epochs(id)[0]?.createdMs).toBe(1)
  })

  it('is not found where the reader is not named, nor linked', async () => {
    const first = plan([reader])
    expect(await look(first.id)).toBe(false)
    await link(stranger, first)
    expect(await look(first.id)).toBe(false)
    await link(reader, first)
    const second = plan([stranger])
    expect(await look(second.id)).toBe(false)
  })

  it('is replaced once its opener has another, on a stream without history', async () => {
    const replaced = (id: EpochId) => finder.replaced({ publisherId: opener.userId, id }, signal)
    expect(await replaced('0011223344556677' as EpochId)).toBeUndefined()
    const first = plan([], [], 0, 1_000)
    expect(await replaced(first.id)).toBeUndefined()
    const second = plan([], [], 0, 2_000)
    expect(await Promise.all([first.id, second.id].map(replaced))).toEqual([
      { sinceMs: 2_000, isOpen: false },
      undefined,
    ])
    known.add(second.key)
    expect(await replaced(first.id)).toEqual({ sinceMs: 2_000, isOpen: true })
    // What storage nodes tell of the newest may be late.
    put(newestChain, { kind: 'newest', keyringId: keyring.id, commitment: first.commitment })
    expect(await replaced(second.id)).toBeUndefined()
    put(newestChain, { kind: 'newest', keyringId: keyring.id, commitment: second.commitment })
    choice = { history: 'all' }
    expect(await replaced(first.id)).toBeUndefined()
  })

  it('is not taken from a link of somebody who may only publish', async () => {
    const first = plan([])
    await link(reader, first, false)
    expect(await look(first.id)).toBe(false)
  })

  it('is taken from an answer of the opener, or of anybody', async () => {
    const keys = [random.bytes(keyBytes), random.bytes(keyBytes)] as const
    const ids = keys.map((key) => epochIdOf(commitmentOf(ciphers, key))) as [EpochId, EpochId]
    await answer([keys[0]], opener)
    expect(await look(ids[0])).toBe(true)
    await answer([keys[1]], stranger)
    expect(await finder.lookAgain({ publisherId: opener.userId, id: ids[1] }, signal)).toBe(false)
    expect(await look(ids[1])).toBe(true)
  })

  it('is taken from an answer of somebody who may grant, however many records came since', async () => {
    const key = random.bytes(keyBytes)
    await answer([key], stranger)
    isBuried = true
    expect(await look(epochIdOf(commitmentOf(ciphers, key)))).toBe(false)
    granters = [opener.userId, stranger.userId]
    expect(await look(epochIdOf(commitmentOf(ciphers, key)))).toBe(true)
  })

  it('is looked for though the registry does not say who may grant', async () => {
    refresh = () => new Promise(() => {})
    const looked = look(epochIdOf(new Uint8Array(32)))
    await expect.poll(() => clock.nextAtMs).toBeDefined()
    clock.advanceBy(5_000)
    expect(await looked).toBe(false)
  })

  it('is not another key that an answer holds, or a link', async () => {
    const wanted = plan([])
    await answer([random.bytes(keyBytes)], stranger)
    await link(reader, { ...wanted, key: random.bytes(keyBytes) })
    expect(await look(wanted.id)).toBe(false)
    expect(known.epochs(wanted.id)).toEqual([])
  })

  it('is not found by a link that somebody else copied, or made for another stream', async () => {
    const first = plan([reader])
    const made = await link(reader, first, true, stranger)
    expect(await look(first.id)).toBe(false)
    put(linkChain(ciphers, keyring.id, reader.userId), { ...made, sealed: made.sealed.with(0, 1) })
    expect(await look(first.id)).toBe(false)
  })

  it('is found when a record comes that was withheld', async () => {
    const first = plan([reader])
    const chain = epochChain(first.id)
    const withheld = records.get(`${opener.userId} ${chain}`)
    records.delete(`${opener.userId} ${chain}`)
    await link(reader, plan([]))
    expect(await look(first.id)).toBe(false)
    records.set(`${opener.userId} ${chain}`, withheld as never)
    expect(await look(first.id)).toBe(true)
  })

  it('is not looked for without end in epochs that lead to each other', async () => {
    const [a, b] = [plan([]), plan([])]
    const circle = (one: PlannedEpoch, other: PlannedEpoch) => {
      const [entry] = planEpoch(
        {
          ...{ readers: [], publishers: [], cohorts: [], createdMs: 0, readersAtBlock: 0 },
          earlier: [other],
        },
        { keyring, ciphers, random: { ...random, bytes: () => one.key } },
      ).record.earlier
      put(epochChain(one.id), { ...one.record, earlier: entry === undefined ? [] : [entry] })
    }
    circle(a, b)
    circle(b, a)
    await link(reader, a)
    expect(await look('AAAAAAAA' as EpochId)).toBe(false)
    expect(looks).toBeLessThan(20)
  })

  it('is looked for in 200 earlier epochs at most', async () => {
    const epochs: PlannedEpoch[] = []
    for (let i = 0; i < 300; i++) epochs.unshift(plan([], epochs.slice(0, 1)))
    await link(reader, epochs[0] as PlannedEpoch)
    expect(await look((epochs.at(-1) as PlannedEpoch).id)).toBe(false)
    expect(looks).toBeLessThan(220)
  })
})
