import { ciphers, readerTag, type KeyRecord } from '@runnel/protocol'
import { expect, it } from 'vitest'
import { openerKeys } from './stream-keys.ts'
import { crypto, userOf } from './world.testkit.ts'

it('does not count an opener among the readers that its key was made for, also where that is for its card', async () => {
  const [opener, reader] = [await userOf('opener'), await userOf('reader')]
  const keyringId = new Uint8Array(16)
  const commitment = new Uint8Array(32)
  const readers = [opener, reader].map(({ userId, cardHash }) => {
    return { tag: readerTag(ciphers, userId, cardHash), wrapped: new Uint8Array(32) }
  })
  const records: readonly KeyRecord[] = [
    { kind: 'newest', keyringId, commitment },
    {
      ...{ kind: 'epoch', keyringId, commitment, createdMs: 0, readersAtBlock: 0, own: new Uint8Array(32) },
      ...{ readers, cohorts: [], publisherRecords: 0, earlier: [] },
    },
  ]
  const keys = await openerKeys(opener.userId, {
    ...{ ciphers, crypto, signal: new AbortController().signal },
    keyPart: { find: async (_, chain) => records.find(({ kind }) => kind.startsWith(chain.slice(0, 1))) },
    cards: new Map([opener, reader].map(({ userId, card }) => [userId, card])),
    readerIds: [opener.userId, reader.userId],
  })
  expect(keys).toMatchObject({ readerCount: 1, readers: new Map([[reader.userId, 'unlinked']]) })
})
