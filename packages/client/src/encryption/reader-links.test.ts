import {
  ciphers,
  commitmentOf,
  epochIdOf,
  readerTag,
  seededRandom,
  toHex,
  toNodeId,
  type KeyRecord,
} from '@runnel/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Recipient } from './card-holder.ts'
import { Keyring } from './keyring.ts'
import { ReaderLinks } from './reader-links.ts'
import { openLink } from './sealed-records.ts'
import { streamId, userOf, type TestUser } from './world.testkit.ts'

const [opener, reader, other] = (await Promise.all(['opener', 'reader', 'other'].map(userOf))) as [
  TestUser,
  TestUser,
  TestUser,
]
const random = seededRandom('links')
const keyring = new Keyring({ master: random.bytes(32) }, { ciphers })
const key = random.bytes(32)
const commitment = commitmentOf(ciphers, key)
const epoch = { key, commitment, id: epochIdOf(commitment) }
const recipient = ({ userId, cardHash, card }: TestUser) => ({ userId, cardHash, publicKey: card.publicKey })

let published: { readonly chain: string; readonly record: KeyRecord }[]
let roles: Map<string, 'reader' | 'publisher'>
let isStored: () => boolean
let links: ReaderLinks
beforeEach(() => {
  published = []
  isStored = () => true
  roles = new Map([
    [reader.userId, 'reader'],
    [other.userId, 'reader'],
  ])
  links = new ReaderLinks(
    { streamId, userId: opener.userId },
    {
      ciphers,
      keyPart: {
        publish: (messageChainId, record) => {
          published.push({ chain: messageChainId, record })
          const place = { streamId, partition: 100, publisherId: opener.userId, messageChainId }
          return { ...place, timestamp: 0, sequenceNumber: 0 }
        },
      },
      roleOf: (userId) => roles.get(userId),
      onPublished: () => {},
      confirmed: () => Promise.resolve(isStored()),
    },
  )
})
const link = (...users: readonly TestUser[]) => links.link(users.map(recipient), keyring, epoch)
const opened = async (
  given: (typeof published)[number] | undefined,
  { userId, readingKey, cardPrivateKey: privateKey }: TestUser,
) => {
  if (given?.record.kind !== 'link') return undefined
  const place = { streamId, openerId: opener.userId, readerId: userId, chain: given.chain }
  return openLink(place, given.record, [{ generation: 0, readingKey, privateKey }])
}

describe('links to readers', () => {
  it('are made once for each, and open for nobody else', async () => {
    await link(reader, other)
    await link(reader, other)
    expect(published).toHaveLength(2)
    expect(await opened(published[0], reader)).toMatchObject({ isForReader: true, key })
    expect(await opened(published[0], other)).toBeUndefined()
  })

  it('begin with no key where the records of their epoch have it', async () => {
    await links.link([reader, other].map(recipient), keyring, epoch, { isCovered: true })
    const secret = keyring.linkSecret(reader.userId, reader.cardHash)
    const epochId = commitment.slice(0, 6)
    expect(await opened(published[0], reader)).toEqual({ isForReader: true, secret, epochId, key: undefined })
  })

  it('open in their own chain only', async () => {
    await link(reader, other)
    const [mine = expect.fail(), others = expect.fail()] = published
    expect(await opened({ ...mine, chain: others.chain }, reader)).toBeUndefined()
    const { record } = mine
    if (record.kind !== 'link') return expect.fail()
    const tag = record.tag.with(0, (record.tag[0] ?? 0) ^ 1)
    expect(await opened({ ...mine, record: { ...record, tag } }, reader)).toBeUndefined()
  })

  it('are made again for whom asks, and may have missed the first', async () => {
    await link(reader)
    await links.linkAgain(recipient(reader), keyring, epoch)
    expect(published).toHaveLength(2)
  })

  it('are made again for whom may read now and might only publish before, and not the other way round', async () => {
    roles.set(reader.userId, 'publisher')
    await link(reader)
    roles.set(reader.userId, 'reader')
    await link(reader)
    roles.set(reader.userId, 'publisher')
    await link(reader)
    await links.linkAgain(recipient(reader), keyring, epoch)
    const all = await Promise.all(published.map((one) => opened(one, reader)))
    expect(all.map((one) => one?.isForReader)).toEqual([false, true])
    expect(all[0]?.key).not.toEqual(key)
  })

  it('are not made for whom lost its permission, also while they are made', async () => {
    roles.delete(reader.userId)
    await link(reader)
    const linked = link(other)
    await Promise.resolve()
    await Promise.resolve()
    roles.delete(other.userId)
    await linked
    expect(published).toEqual([])
  })

  it('that another process made are not made again', async () => {
    await link(reader)
    links.add([toHex(readerTag(ciphers, other.userId, other.cardHash))])
    await link(other)
    expect(published).toHaveLength(1)
  })

  describe('of more readers than are linked at once', () => {
    const many = Array.from({ length: 600 }, (_, i): Recipient => {
      const userId = toNodeId(`0x${i.toString(16).padStart(40, '0')}`)
      return { ...recipient(reader), userId }
    })
    beforeEach(() => many.forEach(({ userId }) => roles.set(userId, 'reader')))

    it('are published when those before are stored', async () => {
      const before: number[] = []
      isStored = () => before.push(published.length) > 0
      await links.link(many, keyring, epoch)
      expect([before, published.length]).toEqual([[256, 512], 600])
    })

    it('do not wait for a storage node that is away again and again', async () => {
      const before: number[] = []
      isStored = () => before.push(published.length) === 0
      await links.link(many, keyring, epoch)
      expect([before, published.length]).toEqual([[256], 600])
    })
  })

  it('are not made to a card without a key', async () => {
    const publicKey = new Uint8Array(1216).fill(255)
    await links.link([{ ...recipient(reader), publicKey }], keyring, epoch)
    expect(published).toEqual([])
  })
})
