import { VirtualClock } from '@runnel/transport'
import type { EpochId, KeyRecord, RunnelError } from '@runnel/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { clientError } from '../errors.ts'
import { KeySearch } from './key-search.ts'
import { streamId, turns, userOf } from './world.testkit.ts'

const publisher = await userOf('publisher')
const reader = await userOf('reader')
const wanted = { publisherId: publisher.userId, id: '0011223344556677' as EpochId }

let clock: VirtualClock
let looks: number
let lookMs: number
let refreshes: number
let refreshFails: RunnelError
let isThere: boolean
let replacedMs: number | undefined
let isOpen: boolean
let asked: KeyRecord[]
let taken: (() => void)[]
let closing: AbortController
let search: KeySearch
beforeEach(() => {
  clock = new VirtualClock()
  looks = 0
  lookMs = 0
  refreshes = 0
  refreshFails = clientError('CARDS_UNAVAILABLE')
  isThere = false
  replacedMs = undefined
  isOpen = false
  asked = []
  taken = []
  closing = new AbortController()
  const look = async () => {
    looks++
    if (lookMs > 0) await new Promise<void>((resolve) => clock.schedule(lookMs, resolve))
    return isThere
  }
  search = new KeySearch(
    { id: streamId, partitions: 1, metadata: '', trackers: [], createdMs: 0 },
    {
      clock,
      card: {
        ensure: async () => reader.card,
        refresh: () => (refreshes++, Promise.reject(refreshFails)),
      },
      keyPart: {
        isDenied: false,
        join: () => {},
        publish: (_, record) => {
          asked.push(record)
          return {
            ...{ streamId, partition: 100, publisherId: reader.userId, messageChainId: '' },
            ...{ timestamp: 0, sequenceNumber: 0 },
          }
        },
      },
      finder: {
        look,
        lookAgain: look,
        replaced: async () => (replacedMs === undefined ? undefined : { sinceMs: replacedMs, isOpen }),
        takeAnswer: () => new Promise<void>((resolve) => taken.push(resolve)),
      },
      signal: closing.signal,
    },
  )
})

const find = (sealedMs = 0) => search.find(wanted, sealedMs)

/** Lets time pass, second by second, and what waits for it go on. */
async function pass(seconds: number): Promise<void> {
  for (let i = 0; i < seconds; i++) {
    clock.advanceBy(1_000)
    await turns(10)
  }
}
const codeOf = (found: Promise<void>): Promise<unknown> =>
  found.then(
    () => 'found',
    (error: unknown) => (error as { readonly code?: unknown }).code,
  )

describe('KeySearch', () => {
  it('looks once where the key is there, and asks nobody', async () => {
    isThere = true
    await find()
    expect([looks, asked.length, search.publishers]).toEqual([1, 0, []])
  })

  it('searches once for all who want the same key, and looks again when something comes', async () => {
    const [first, second] = [codeOf(find()), codeOf(find())]
    await turns(10)
    expect([looks, asked.length, search.publishers]).toEqual([1, 1, [publisher.userId]])
    isThere = true
    search.wake()
    expect([await first, await second, looks]).toEqual(['found', 'found', 2])
  })

  it('asks again every two seconds, gives up after thirty, and rests', async () => {
    const found = codeOf(find())
    await pass(31)
    expect([await found, looks, asked.length]).toEqual(['KEY_NOT_FOUND', 16, 15])
    expect([await codeOf(find()), looks]).toEqual(['KEY_NOT_FOUND', 16])
  })

  it('gives up after ten seconds a key that its opener replaced after all that was sealed with it', async () => {
    replacedMs = 1_000
    const found = codeOf(find(1_000))
    await pass(11)
    expect([await found, asked.length]).toEqual(['KEY_NOT_FOUND', 5])
    expect([await codeOf(find(1_000)), asked.length]).toEqual(['KEY_NOT_FOUND', 5])
  })

  it('gives it up after four seconds where the key that replaced it is known', async () => {
    replacedMs = 1_000
    isOpen = true
    const found = codeOf(find(1_000))
    await pass(5)
    expect([await found, asked.length]).toEqual(['KEY_NOT_FOUND', 2])
  })

  it('asks on where something was sealed since, by a process that goes on with the key', async () => {
    replacedMs = 1_000
    const before = codeOf(find())
    await pass(8)
    const since = codeOf(find(1_001))
    await pass(23)
    expect([await before, await since, asked.length]).toEqual(['KEY_NOT_FOUND', 'KEY_NOT_FOUND', 15])
    expect([await codeOf(find(2_000)), asked.length]).toEqual(['KEY_NOT_FOUND', 15])
  })

  it('rests for nothing that was sealed after the key was replaced', async () => {
    replacedMs = 1_000
    const before = codeOf(find())
    await pass(11)
    expect(await before).toBe('KEY_NOT_FOUND')
    isThere = true
    expect(await codeOf(find(1_001))).toBe('found')
  })

  it('asks whoever is there, however long storage nodes do not answer', async () => {
    lookMs = 35_000
    const found = codeOf(find())
    await pass(36)
    expect(asked.map(({ kind }) => kind)).toEqual(['request'])
    lookMs = 0
    isThere = true
    search.wake()
    await pass(3)
    expect(await found).toBe('found')
  })

  it('looks for another card of its user once a minute, when a key is not there', async () => {
    isThere = true
    await find()
    expect(refreshes).toBe(0)
    isThere = false
    for (const expected of [1, 1, 2]) {
      const found = codeOf(find())
      await pass(31)
      expect([await found, refreshes]).toEqual(['KEY_NOT_FOUND', expected])
      search.wake()
    }
  })

  it('gives as the reason that its user reads with another key now, which this process has not', async () => {
    refreshFails = clientError('READING_KEY_OTHER_GENERATION')
    const found = codeOf(find())
    await pass(31)
    expect(await found).toBe('READING_KEY_OTHER_GENERATION')
    expect(await codeOf(find())).toBe('READING_KEY_OTHER_GENERATION')
  })

  it('does not rest when something came since', async () => {
    const found = codeOf(find())
    await pass(31)
    await found
    isThere = true
    search.wake()
    expect(await codeOf(find())).toBe('found')
  })

  it('ends with ABORTED', async () => {
    const found = codeOf(find())
    await turns(10)
    closing.abort()
    expect(await found).toBe('ABORTED')
  })

  it('opens one answer after the other, and none while nothing is looked for', async () => {
    const { userId: readerId, cardHash } = reader
    const [encapsulated, sealed] = [new Uint8Array(), new Uint8Array()]
    const record = { kind: 'answer', readerId, cardHash, encapsulated, sealed } as const
    search.takeAnswer(record)
    expect(taken.length).toBe(0)
    const found = codeOf(find())
    search.takeAnswer(record)
    search.takeAnswer(record)
    expect(taken.length).toBe(1)
    taken[0]?.()
    await turns(10)
    search.takeAnswer(record)
    expect(taken.length).toBe(2)
    closing.abort()
    await found
  })
})
