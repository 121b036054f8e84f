import {
  compareRefs,
  contradictionOf,
  seededRandom,
  decodeBatch,
  keyPartition,
  limits,
  type MessageBatch,
  type MessageRef,
  type Random,
} from '@runnel/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  at,
  batchOf,
  byRef,
  chainOf,
  compareBatches,
  delegationOf,
  keyedBatch,
  nodeId,
  owner,
  partOf,
  streamId,
  tagOf,
} from './batches.testkit.ts'
import { lookUpLimits } from './last-messages.ts'
import type { StoredCard } from './stored-cards.ts'
import type { MessageStore, StoredRange } from './message-store.ts'
import type { EncodedDelegations } from './stored-delegations.ts'

/** Where the messages of one test are: another store on the same place sees the same. */
export interface StorePlace {
  create(): MessageStore
  remove(): Promise<void>
}

const part = partOf(0)
const all = { from: at(0), to: at(2 ** 48 - 1, 2 ** 32 - 1) }
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const hexOf = (batches: readonly MessageBatch[]) => batches.map(({ bytes }) => hex(bytes))
const hexByRef = (delegations: EncodedDelegations) =>
  Object.fromEntries([...delegations].map(([ref, bytes]) => [ref, hex(bytes)]))
const hourMs = 3_600_000

/** All pages of a range, each of about `maxBytes`. */
export async function readAll(
  store: MessageStore,
  range: Partial<StoredRange> = {},
  maxBytes = 400,
): Promise<Uint8Array[]> {
  const batches: Uint8Array[] = []
  let after: string | undefined
  do {
    const page = await store.read(
      { streamPartId: part, ...all, ...range },
      { maxBytes, ...(after === undefined ? {} : { after }) },
    )
    batches.push(...page.batches)
    after = page.next
  } while (after !== undefined)
  return batches
}

/** What every engine must do. Random batches are compared with a list, of each of the seeds, with so many questions. */
export function testMessageStore(
  name: string,
  newPlace: () => Promise<StorePlace>,
  { seeds, questions }: { readonly seeds: readonly number[]; readonly questions: number },
): void {
  describe(`a message store: ${name}`, { timeout: 300_000 }, () => {
    let place: StorePlace
    let store: MessageStore

    beforeEach(async () => {
      place = await newPlace()
      store = place.create()
      await store.open()
    })
    afterEach(async () => {
      await store.close()
      await place.remove()
    })

    const reopen = async () => {
      await store.close()
      store = place.create()
      await store.open()
    }
    const read = async (range: Partial<StoredRange> = {}, maxBytes?: number) =>
      (await readAll(store, range, maxBytes)).map(hex)

    it('gives back what was appended, byte by byte, and after reopening too', async () => {
      const batches = [batchOf(chainOf(), [at(1), at(2)]), batchOf(chainOf(), [at(3)], 100_000)]
      await store.append(batches)
      expect(await read()).toEqual(hexOf(batches))
      await reopen()
      expect(await read()).toEqual(hexOf(batches))
    })

    it('finds the last record of each of 10,000 chains of one publisher in a key part', async () => {
      const count = 10_000
      const recordOf = (i: number, time: number) => batchOf(chainOf(`l${i}`, owner, keyPartition), [at(time)])
      const records = Array.from({ length: count }, (_, i) => recordOf(i, hourMs + i * 40))
      for (let i = 0; i < count; i += 1000) await store.append(records.slice(i, i + 1000))
      // Some again, in the same chain: the later counts.
      const again = [0, 5000].map((i) => recordOf(i, 3 * hourMs + i))
      await store.append(again)
      const keys = partOf(keyPartition)
      const lastOf = async (i: number) => {
        const filter = { publisherId: owner, messageChainId: `l${i}` }
        const found = await store.last(keys, 1, filter)
        if (found === undefined) return []
        return { count: found.count, batches: await read({ streamPartId: keys, ...found, ...filter }) }
      }
      expect(await lastOf(0)).toEqual({ count: 1, batches: hexOf(again.slice(0, 1)) })
      expect(await lastOf(5000)).toEqual({ count: 1, batches: hexOf(again.slice(1)) })
      for (let i = 1; i < count; i += 499) {
        expect(await lastOf(i)).toEqual({ count: 1, batches: hexOf(records.slice(i, i + 1)) })
      }
      expect(await lastOf(count)).toEqual([])
      const filter = { publisherId: owner, messageChainId: 'l0' }
      const both = hexOf([...records.slice(0, 1), ...again.slice(0, 1)])
      expect(await read({ streamPartId: keys, ...filter }, 1)).toEqual(both)
      expect(await store.has(chainOf('l0', owner, keyPartition), at(hourMs))).toBe(true)
      expect(await read({ streamPartId: keys }, 100_000)).toHaveLength(count + 2)
      expect((await store.prune(keys, { olderThanMs: hourMs + 1 })).batches).toBe(1)
      expect(await read({ streamPartId: keys, ...filter })).toEqual(hexOf(again.slice(0, 1)))
    })

    it('keeps a card of each user, the last that was put', async () => {
      const users = [1, 2, 3].map(nodeId)
      const cardOf = (user: number, fill: number, keptMs: number, isVouched = false): StoredCard => {
        return { userId: nodeId(user), bytes: new Uint8Array(1_300).fill(fill), keptMs, isVouched }
      }
      const fills = async () =>
        Object.fromEntries([...(await store.cardsOf(users))].map(([id, bytes]) => [id, bytes[0]]))
      expect([await fills(), await store.cardCount()]).toEqual([{}, 0])
      await store.vouchFor(nodeId(1))
      await store.putCard(cardOf(1, 1, 10))
      await store.putCard(cardOf(2, 2, 20, true))
      await store.putCard(cardOf(1, 3, 30))
      await reopen()
      expect(await fills()).toEqual({ [nodeId(1)]: 3, [nodeId(2)]: 2 })
      expect(await store.cardCount()).toBe(2)
    })

    it('deletes the oldest cards that nobody vouched for, and no others', async () => {
      const ids = Array.from({ length: 6 }, (_, i) => nodeId(i + 1))
      for (const [i, userId] of ids.entries())
        await store.putCard({ userId, bytes: new Uint8Array(9), keptMs: 100 - i, isVouched: i === 5 })
      await store.vouchFor(nodeId(5))
      // What comes again stays vouched for.
      await store.putCard({ userId: nodeId(5), bytes: new Uint8Array(9), keptMs: 0, isVouched: false })
      const left = async () => [...(await store.cardsOf(ids)).keys()].toSorted()
      expect(await store.pruneCards(6)).toBe(0)
      expect(await store.pruneCards(4)).toBe(2)
      expect(await left()).toEqual([1, 2, 5, 6].map(nodeId))
      expect(await store.pruneCards(0)).toBe(2)
      expect([await left(), await store.cardCount()]).toEqual([[5, 6].map(nodeId), 2])
    })

    it('is empty at first', async () => {
      expect(await read()).toEqual([])
      expect(await store.last(part, 10)).toBeUndefined()
      expect(await store.usage()).toEqual([])
      expect(await store.has(chainOf(), at(1))).toBe(false)
      expect(await store.prune(part, { olderThanMs: 10, maxBytes: 0 })).toEqual({ batches: 0, bytes: 0 })
    })

    it('keeps a batch once, however often it is appended', async () => {
      const batch = batchOf(chainOf(), [at(1), at(2)])
      await store.append([batch, batch])
      await Promise.all([store.append([batch]), store.append([batch])])
      await reopen()
      await store.append([batch])
      expect(await read()).toEqual(hexOf([batch]))
      expect(await store.usage()).toMatchObject([{ batches: 1, messages: 2, bytes: batch.bytes.length }])
    })

    it('keeps of two batches that contradict each other the one that counts, whichever came first', async () => {
      const places = [at(1), at(2)]
      const winner = batchOf(chainOf(), places, 20, 1)
      for (const loser of [batchOf(chainOf(), places, 20, 2), batchOf(chainOf(), places, 30, 1)]) {
        expect(contradictionOf(loser, winner)).toMatchObject({ winner, loser })
        await store.append([loser])
        await store.append([winner])
        expect(store.contradictions).toBeGreaterThan(0)
        expect(await read()).toEqual(hexOf([winner]))
        expect(await read({ publisherId: owner })).toEqual(hexOf([winner]))
        await reopen()
        await store.append([loser])
        await store.append([winner, loser])
        expect(await read()).toEqual(hexOf([winner]))
        expect(store.contradictions).toBe(2)
        expect(await store.usage()).toMatchObject([{ batches: 1, messages: 2, bytes: winner.bytes.length }])
        expect(await store.prune(part, { maxBytes: 0 })).toMatchObject({
          batches: 1,
          bytes: winner.bytes.length,
        })
      }
    })

    it('takes nothing when it is given nothing', async () => {
      await store.append([])
      expect(await read()).toEqual([])
    })

    it('gives back the delegations that batches name, after reopening too', async () => {
      const [first, second, unused] = [1, 2, 3].map((fill) => delegationOf(fill)) as [
        Uint8Array,
        Uint8Array,
        Uint8Array,
      ]
      const batches = [
        batchOf(chainOf('a'), [at(1)], 20, 0, first),
        batchOf(chainOf('a'), [at(hourMs)], 20, 0, first),
        batchOf(chainOf('b'), [at(2)], 20, 0, second),
        batchOf(chainOf('c'), [at(3)]),
      ]
      await store.append(batches, byRef(first, second, unused))
      const elsewhere = batchOf(chainOf('a', owner, 1), [at(1)], 20, 0, unused)
      expect(hexByRef(await store.delegationsOf(batches))).toEqual(hexByRef(byRef(first, second)))
      expect((await store.delegationsOf([elsewhere])).size).toBe(0)
      await reopen()
      for (const batch of batches.slice(0, 2)) {
        expect(hexByRef(await store.delegationsOf([batch]))).toEqual(hexByRef(byRef(first)))
      }
      expect((await store.delegationsOf(batches.slice(3))).size).toBe(0)
      expect(await read()).toHaveLength(4)
    })

    it('takes no batch without its delegation, and others meanwhile', async () => {
      const delegation = delegationOf(1)
      const batch = batchOf(chainOf(), [at(1)], 20, 0, delegation)
      const other = batchOf(chainOf(), [at(2)])
      const [refused] = await Promise.allSettled([store.append([batch]), store.append([other])])
      expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'INTERNAL' } })
      expect(await read()).toEqual(hexOf([other]))
      await store.append([batch], byRef(delegation))
      expect(await read()).toEqual(hexOf([batch, other]))
    })

    it('has the delegation of the one that counts of two batches that contradict each other', async () => {
      const [own, delegated] = [delegationOf(1), delegationOf(2)]
      const places = [at(1), at(2)]
      const winner = batchOf(chainOf(), places, 20, 1, own)
      await store.append([batchOf(chainOf(), places, 30, 1, delegated)], byRef(delegated))
      await store.append([winner], byRef(own))
      expect(await read()).toEqual(hexOf([winner]))
      expect(hexByRef(await store.delegationsOf([winner]))).toEqual(hexByRef(byRef(own)))
    })

    it('counts a batch for as much as its delegation', async () => {
      const delegation = delegationOf(1, 1000)
      const batches = [1, 2, 3].map((time) => batchOf(chainOf(), [at(time)], 20, 0, delegation))
      await store.append(batches, byRef(delegation))
      expect(await store.usage()).toMatchObject([{ batches: 3, bytes: 3000 }])
      expect(await store.prune(part, { maxBytes: 1999 })).toMatchObject({ batches: 2, bytes: 2000 })
      expect(await read()).toEqual(hexOf(batches.slice(2)))
      expect(await store.usage()).toMatchObject([{ batches: 1, bytes: 1000 }])
      expect(hexByRef(await store.delegationsOf(batches))).toEqual(hexByRef(byRef(delegation)))
    })

    it('orders pages by first message and last message, and gives each batch once', async () => {
      const ordered = [
        batchOf(chainOf('z'), [at(1), at(2)]),
        batchOf(chainOf('a'), [at(1), at(9)]),
        batchOf(chainOf('b'), [at(2, 3), at(4)]),
        batchOf(chainOf('', nodeId(7)), [at(2, 3), at(4)]),
        batchOf(chainOf('a', nodeId(7)), [at(2, 3), at(4)]),
        batchOf(chainOf('b', nodeId(7)), [at(2, 3), at(4)]),
        batchOf(chainOf('a'), [at(2, 4)]),
        batchOf(chainOf('a'), [at(60_000)]),
      ]
      for (const index of [3, 0, 7, 5, 2, 6, 1, 4]) await store.append(ordered.slice(index, index + 1))
      for (const maxBytes of [1, 300, 100_000]) {
        const batches = (await readAll(store, {}, maxBytes)).map(decodeBatch)
        expect(batches.map(spanOf)).toEqual(ordered.map(spanOf))
        expect(inModelOrder(batches)).toEqual(hexOf(ordered))
      }
    })

    it('refuses nobody the last messages for what others have published', async () => {
      const { maxCountedBatches } = lookUpLimits
      const hostile = Array.from({ length: maxCountedBatches + 100 }, (_, index) =>
        batchOf(chainOf(`${index % 50}`, nodeId(9)), [at(1000 + index), at(61_000 + index)]),
      )
      await store.append([batchOf(chainOf(), [at(1)]), ...hostile, batchOf(chainOf(), [at(90_000)])])
      expect(await store.last(part, 1)).toEqual({ from: at(90_000), to: at(90_000), count: 1 })
      const last = await store.last(part, 10)
      expect(last).toMatchObject({ to: at(90_000), count: 0 })
      expect(last?.from.timestamp).toBeGreaterThan(1000)
      expect(await store.last(part, 2, { publisherId: owner })).toEqual({
        ...{ from: at(1), to: at(90_000), count: 2 },
      })
      expect(await store.has(chainOf(), at(1))).toBe(true)
    })

    it('keeps stream parts apart', async () => {
      const [here, there] = [batchOf(chainOf(), [at(1)]), batchOf(chainOf('chain', owner, 1), [at(1)])]
      await store.append([here, there])
      expect(await read()).toEqual(hexOf([here]))
      expect(await read({ streamPartId: partOf(1) })).toEqual(hexOf([there]))
      expect(await store.has(chainOf('chain', owner, 2), at(1))).toBe(false)
    })

    it('bounds a page by its bytes, and gives at least one batch', async () => {
      const batches = Array.from({ length: 10 }, (_, i) => batchOf(chainOf(), [at(i)], 1000))
      await store.append(batches)
      const page = await store.read({ streamPartId: part, ...all }, { maxBytes: 3500 })
      expect(page.batches.map(hex)).toEqual(hexOf(batches.slice(0, 3)))
      const small = await store.read({ streamPartId: part, ...all }, { maxBytes: 1, after: page.next ?? '' })
      expect(small.batches.map(hex)).toEqual(hexOf(batches.slice(3, 4)))
      const whole = await store.read({ streamPartId: part, ...all }, { maxBytes: 1_000_000 })
      expect(whole).toMatchObject({ batches: { length: 10 }, next: undefined })
    })

    it('goes on after a cursor whatever is appended between two pages', async () => {
      const chain = chainOf()
      const batches = Array.from({ length: 8 }, (_, i) => batchOf(chain, [at(10 * i + 10)], 100))
      await store.append(batches.slice(0, 6))
      const page = await store.read({ streamPartId: part, ...all }, { maxBytes: 1 })
      const before = batchOf(chain, [at(5)])
      await store.append([before, ...batches.slice(6), batchOf(chainOf('other'), [at(10)], 100)])
      const rest: string[] = []
      for (let after = page.next; after !== undefined;) {
        const next = await store.read({ streamPartId: part, ...all }, { maxBytes: 500, after })
        rest.push(...next.batches.map(hex))
        after = next.next
      }
      expect(rest).toEqual(hexOf([batchOf(chainOf('other'), [at(10)], 100), ...batches.slice(1)]))
      await reopen()
      const again = await store.read({ streamPartId: part, ...all }, { maxBytes: 1, after: page.next ?? '' })
      expect(again.batches.map(hex)).toEqual(rest.slice(0, 1))
    })

    it('refuses a cursor that is none', async () => {
      const refused = store.read({ streamPartId: part, ...all }, { maxBytes: 1, after: 'x' })
      await expect(refused).rejects.toMatchObject({ code: 'STORE_CURSOR_INVALID' })
    })

    it('finds batches that reach over either end of a range, however long they last', async () => {
      const long = [
        batchOf(chainOf('a'), [at(0), at(limits.maxBatchSpanMs)]),
        batchOf(chainOf('b'), [at(500), at(1005)]),
        batchOf(chainOf('c'), [at(999, 5), at(1000, 1)]),
        batchOf(chainOf('d'), [at(1000, 7), at(1000, 9)]),
        batchOf(chainOf('e'), [at(1010), at(1010 + limits.maxBatchSpanMs)]),
      ]
      const outside = [
        batchOf(chainOf('f'), [at(0), at(999, 9)]),
        batchOf(chainOf('g'), [at(1000, 0)]),
        batchOf(chainOf('h'), [at(1010, 1), at(1011)]),
      ]
      await store.append([...outside, ...long])
      expect(await read({ from: at(1000, 1), to: at(1010) })).toEqual(hexOf(long))
      expect(await read({ from: at(limits.maxBatchSpanMs + 1), to: at(2_000_000_000) })).toEqual(
        hexOf(long.slice(4)),
      )
    })

    it('reads one publisher, and one chain of it', async () => {
      const [other, third] = [nodeId(2), nodeId(3)]
      const a = batchOf(chainOf('a', other), [at(1), at(5)])
      const b = batchOf(chainOf('b', other), [at(2)])
      await store.append([a, b, batchOf(chainOf('a', third), [at(3)])])
      expect(await read({ publisherId: other })).toEqual(hexOf([a, b]))
      expect(await read({ publisherId: other, messageChainId: 'a' })).toEqual(hexOf([a]))
      expect(await read({ publisherId: other, messageChainId: 'a', from: at(6) })).toEqual([])
      expect(await read({ publisherId: other, messageChainId: 'c' })).toEqual([])
      expect(await read({ publisherId: nodeId(4) })).toEqual([])
      expect(await store.last(part, 1, { publisherId: other })).toEqual({ from: at(5), to: at(5), count: 1 })
      expect(await store.last(part, 9, { publisherId: other, messageChainId: 'b' })).toEqual({
        from: at(2),
        to: at(2),
        count: 1,
      })
      expect(await store.last(part, 9, { publisherId: other, messageChainId: 'c' })).toBeUndefined()
    })

    it('counts the last messages exactly, with chains in between one another', async () => {
      await store.append([
        batchOf(chainOf('a'), [at(1), at(4), at(7), at(10)]),
        batchOf(chainOf('b'), [at(2), at(5), at(8), at(11)]),
        batchOf(chainOf('c'), [at(3), at(6), at(9), at(12)]),
      ])
      for (let count = 1; count <= 12; count++) {
        expect(await store.last(part, count)).toEqual({ from: at(13 - count), to: at(12), count })
      }
      expect(await store.last(part, 100)).toEqual({ from: at(1), to: at(12), count: 12 })
      expect(await store.last(part, 0)).toBeUndefined()
    })

    it('counts a message that is in several batches once', async () => {
      await store.append([
        batchOf(chainOf(), [at(1), at(2), at(3)]),
        batchOf(chainOf(), [at(2), at(3), at(4)]),
        batchOf(chainOf(), [at(1), at(2), at(3), at(4), at(5)]),
        batchOf(chainOf('other'), [at(3)]),
      ])
      expect(await store.last(part, 3)).toEqual({ from: at(3), to: at(5), count: 3 })
      expect(await store.last(part, 5)).toEqual({ from: at(2), to: at(5), count: 5 })
      expect(await store.last(part, 9)).toEqual({ from: at(1), to: at(5), count: 6 })
    })

    it('counts batches that all have a message in common, whatever else is in them', async () => {
      const batches = Array.from({ length: 300 }, (_, index) => batchOf(chainOf(), [at(1), at(1000 + index)]))
      await store.append(batches)
      expect(await store.last(part, 1)).toEqual({ from: at(1299), to: at(1299), count: 1 })
      expect(await store.last(part, 300)).toEqual({ from: at(1000), to: at(1299), count: 300 })
      expect(await store.last(part, 600)).toEqual({ from: at(1), to: at(1299), count: 301 })
      await store.append([batchOf(chainOf(), [at(1100), at(1500)])])
      expect(await store.last(part, 2)).toEqual({ from: at(1299), to: at(1500), count: 2 })
      expect(await store.last(part, 301)).toEqual({ from: at(1000), to: at(1500), count: 301 })
    })

    it('searches few of the batches that reach over a place, and says so', async () => {
      const overlapping = (count: number) =>
        Array.from({ length: count }, (_, index) => batchOf(chainOf(), [at(1), at(1000 + index)]))
      const { maxSearchedBatches } = lookUpLimits
      await store.append(overlapping(maxSearchedBatches))
      expect(await store.has(chainOf(), at(500))).toBe(false)
      await store.append(overlapping(maxSearchedBatches + 1))
      await expect(store.has(chainOf(), at(500))).rejects.toMatchObject({ code: 'TOO_COSTLY' })
      expect(await store.has(chainOf(), at(1))).toBe(true)
      expect(await store.has(chainOf('other'), at(500))).toBe(false)
    })

    it('knows which messages it has', async () => {
      await store.append([batchOf(chainOf(), [at(1), at(3, 2)]), batchOf(chainOf(), [at(5)])])
      for (const place of [at(1), at(3, 2), at(5)]) expect(await store.has(chainOf(), place)).toBe(true)
      for (const place of [at(0), at(2), at(3), at(6)]) expect(await store.has(chainOf(), place)).toBe(false)
      expect(await store.has(chainOf('other'), at(1))).toBe(false)
      expect(await store.has(chainOf('chain', nodeId(9)), at(1))).toBe(false)
    })

    it('prunes by age, but nothing that holds a younger message', async () => {
      const [old, long, young] = [[at(1), at(9)], [at(2), at(10)], [at(11)]].map((places) =>
        batchOf(chainOf(), places),
      )
      if (!old || !long || !young) throw new Error('three batches')
      await store.append([old, long, young])
      expect(await store.prune(part, { olderThanMs: 10 })).toEqual({ batches: 1, bytes: old.bytes.length })
      expect(await read()).toEqual(hexOf([long, young]))
      expect(await store.has(chainOf(), at(1))).toBe(false)
      expect(await store.usage()).toEqual([
        {
          streamPartId: part,
          batches: 2,
          messages: 3,
          bytes: long.bytes.length + young.bytes.length,
          oldestMs: 2,
          newestMs: 11,
        },
      ])
    })

    it('prunes the oldest until few enough bytes are left, of one stream part only', async () => {
      const batches = Array.from({ length: 20 }, (_, i) => batchOf(chainOf(), [at(i)], 100))
      const elsewhere = batchOf(chainOf('chain', owner, 1), [at(0)])
      await store.append([...batches, elsewhere])
      const size = batches[0]?.bytes.length ?? 0
      expect(await store.prune(part, { maxBytes: 5 * size + 1, olderThanMs: 3 })).toEqual({
        ...{ batches: 15, bytes: 15 * size },
        goneBeforeMs: 15,
      })
      expect(await read()).toEqual(hexOf(batches.slice(15)))
      expect(await store.prune(part, { maxBytes: 5 * size })).toEqual({ batches: 0, bytes: 0 })
      expect(await store.prune(part, { maxBytes: 0 })).toMatchObject({ batches: 5, bytes: 5 * size })
      expect(await store.last(part, 1)).toBeUndefined()
      expect(await store.usage()).toMatchObject([{ streamPartId: partOf(1) }])
      await store.append(batches)
      expect(await read()).toEqual(hexOf(batches))
      expect(await read({ streamPartId: partOf(1) })).toEqual(hexOf([elsewhere]))
    })

    it('deletes cursors that a later one replaces, and no other chain of the key part', async () => {
      const keys = partOf(keyPartition)
      const cursorOf = (publisher: number, name: string, time: number) =>
        batchOf(chainOf(name, nodeId(publisher), keyPartition), [at(time)])
      const cursors = [10, 20, 30].flatMap((time) => [cursorOf(1, '@c0', time), cursorOf(2, '@c0', time)])
      const others = [10, 20].flatMap((time) => [cursorOf(1, 'n', time), cursorOf(1, 'A', time)])
      const lone = cursorOf(1, '@c1', 5)
      await store.append([...cursors, ...others, lone])
      expect((await store.prune(keys, {})).batches).toBe(0)
      expect((await store.prune(keys, { replacedBeforeMs: 20 })).batches).toBe(2)
      const { batches, bytes } = await store.prune(keys, { replacedBeforeMs: 1_000 })
      expect([batches, bytes]).toEqual([2, 2 * (cursors[2]?.bytes.length ?? 0)])
      const left = await readAll(store, { streamPartId: keys })
      expect(left.map(hex).toSorted()).toEqual(sorted(...cursors.slice(4), ...others, lone))
      expect((await store.prune(keys, { replacedBeforeMs: 1_000 })).batches).toBe(0)
      const usage = await store.usage()
      expect(usage.find(({ streamPartId }) => streamPartId === keys)?.batches).toBe(7)
    })

    it('deletes cursors that a later one replaces also where they lie within one another or end together', async () => {
      const keys = partOf(keyPartition)
      const cursorOf = (...places: readonly number[]) =>
        batchOf(
          chainOf('@c0', owner, keyPartition),
          places.map((ms) => at(ms)),
        )
      const nested = [cursorOf(1, 90), cursorOf(2, 80), cursorOf(3, 70)]
      const ended = [cursorOf(4, 95), cursorOf(5, 95), cursorOf(6, 95)]
      await store.append([...nested, ...ended])
      expect((await store.prune(keys, { replacedBeforeMs: 1_000 })).batches).toBe(3)
      const last = cursorOf(100)
      await store.append([last])
      expect((await store.prune(keys, { replacedBeforeMs: 1_000 })).batches).toBe(3)
      expect(await read({ streamPartId: keys })).toEqual(hexOf([last]))
    })

    const valuesOf = async (key?: number, maxBytes = 1e6) => {
      const found: string[] = []
      const tag = key === undefined ? undefined : tagOf(key)
      for await (const page of store.values(part, { tag, maxBytes })) found.push(...page.map(hex))
      return found.toSorted()
    }
    const sorted = (...batches: readonly MessageBatch[]) => hexOf(batches).toSorted()

    it('knows the newest message of each key, whatever the order they come in, after reopening too', async () => {
      const old = keyedBatch(chainOf(), [1], [at(10)])
      const two = keyedBatch(chainOf(), [2, undefined, 3], [at(20), at(21), at(22)])
      const newest = keyedBatch(chainOf('other', nodeId(2)), [1], [at(30)])
      const elsewhere = keyedBatch(chainOf('chain', owner, 1), [1], [at(90)])
      expect([await valuesOf(), await valuesOf(1)]).toEqual([[], []])
      await store.append([two, newest])
      await store.append([old, elsewhere])
      expect(await valuesOf()).toEqual(sorted(two, newest))
      await reopen()
      expect(await valuesOf(undefined, 1)).toEqual(sorted(two, newest))
      expect([await valuesOf(1), await valuesOf(2), await valuesOf(3), await valuesOf(4)]).toEqual(
        [newest, two, two].map((batch) => sorted(batch)).concat([[]]),
      )
      const tied = [3, 4].map((publisher) => keyedBatch(chainOf('c', nodeId(publisher)), [1], [at(40)]))
      await store.append(tied.toReversed())
      expect(await valuesOf(1)).toEqual(sorted(...tied.slice(1)))
    })

    it('gives the values of many keys, each batch once', async () => {
      const places = Array.from({ length: 100 }, (_, i) => at(1000 + i))
      const first = Array.from({ length: 100 }, (_, i) => i)
      const whole = keyedBatch(chainOf(), first, places)
      const later = [5, 6, 7].map((key) => keyedBatch(chainOf(), [key], [at(2000 + key)]))
      await store.append([whole, ...later])
      expect(await valuesOf(undefined, 500)).toEqual(sorted(whole, ...later))
      expect(await valuesOf(5)).toEqual(sorted(...later.slice(0, 1)))
    })

    it('keeps values as old as it is told, and deletes the rest with their batches', async () => {
      const values = { fromMs: 150, maxKeys: 2 }
      const batches = [1, 2, 3, 4].map((key) => keyedBatch(chainOf(), [key], [at(key * 100)]))
      const [, second, third, fourth] = batches as [MessageBatch, MessageBatch, MessageBatch, MessageBatch]
      const plain = batchOf(chainOf('plain'), [at(250)])
      await store.append([...batches, plain])
      await store.prune(part, { olderThanMs: 1, values: { fromMs: 0, maxKeys: 9 } })
      expect(await valuesOf()).toEqual(sorted(...batches))
      expect((await store.prune(part, { olderThanMs: 350, values: { ...values, maxKeys: 3 } })).batches).toBe(
        2,
      )
      expect(await read()).toEqual(hexOf([second, third, fourth]))
      expect(await valuesOf()).toEqual(sorted(second, third, fourth))
      expect((await store.prune(part, { olderThanMs: 350, values })).batches).toBe(1)
      expect(await valuesOf()).toEqual(sorted(third, fourth))
      await store.append([keyedBatch(chainOf(), [3], [at(500)])])
      expect((await store.prune(part, { olderThanMs: 350, values })).batches).toBe(1)
      expect((await store.prune(part, { olderThanMs: 1000 })).batches).toBe(2)
      expect([await valuesOf(), await read()]).toEqual([[], []])
    })

    it('deletes values last when there are too many bytes', async () => {
      const values = { fromMs: 0, maxKeys: 9 }
      const keyed = [1, 2].map((key) => keyedBatch(chainOf(), [key], [at(key * 100)]))
      const plain = [300, 400].map((time) => batchOf(chainOf('plain'), [at(time)]))
      await store.append([...keyed, ...plain])
      const bytes = (keyed[0]?.bytes.length ?? 0) + 1
      await store.prune(part, { maxBytes: 2 * bytes, values })
      expect(await read()).toEqual(hexOf(keyed))
      await store.prune(part, { maxBytes: bytes, values })
      expect([await read(), await valuesOf()]).toEqual([hexOf(keyed.slice(1)), sorted(...keyed.slice(1))])
    })

    it('has the value of the one that counts of two batches that contradict each other', async () => {
      for (const isReversed of [false, true]) {
        const place = at(isReversed ? 20 : 10)
        const both = [1, 2].map((key) => keyedBatch(chainOf(), [key], [place], key))
        const [a, b] = both as [MessageBatch, MessageBatch]
        const winner = contradictionOf(a, b)?.winner ?? a
        const key = winner === a ? 1 : 2
        for (const batch of isReversed ? both.toReversed() : both) await store.append([batch])
        expect([await valuesOf(key), await valuesOf(3 - key)]).toEqual([sorted(winner), []])
        await store.prune(part, { olderThanMs: 1000 })
        expect(await valuesOf()).toEqual([])
      }
    })

    it('says what is used, by stream part', async () => {
      const batches = [batchOf(chainOf(), [at(5), at(1000)]), batchOf(chainOf('b'), [at(7)])]
      await store.append([...batches, batchOf(chainOf('chain', owner, 1), [at(3)])])
      const bytes = batches.reduce((sum, batch) => sum + batch.bytes.length, 0)
      const [first, second] = [...(await store.usage())].sort((a, b) =>
        a.streamPartId < b.streamPartId ? -1 : 1,
      )
      expect(first).toEqual({
        streamPartId: part,
        batches: 2,
        messages: 3,
        bytes,
        oldestMs: 5,
        newestMs: 1000,
      })
      expect(second).toMatchObject({
        streamPartId: `${streamId}#1`,
        batches: 1,
        messages: 1,
        oldestMs: 3,
        newestMs: 3,
      })
    })

    it('remembers marks', async () => {
      expect(await store.getMark('repair')).toBeUndefined()
      await store.setMark('repair', 'a')
      await store.setMark('repair', 'b')
      await store.setMark('empty', '')
      expect(await store.getMark('repair')).toBe('b')
      await reopen()
      expect(await store.getMark('repair')).toBe('b')
      expect(await store.getMark('empty')).toBe('')
      expect(await store.getMark('Repair')).toBeUndefined()
    })

    it('finishes what was appended before it closes', async () => {
      const batches = Array.from({ length: 50 }, (_, i) => batchOf(chainOf(), [at(i)]))
      const appended = batches.map((batch) => store.append([batch]))
      const closed = store.close()
      await Promise.all(appended)
      await closed
      await reopen()
      expect(await read()).toEqual(hexOf(batches))
    })

    it('is opened and closed as often as one likes, and refuses all while it is closed', async () => {
      await store.open()
      await store.close()
      await store.close()
      const unavailable = { code: 'STORE_UNAVAILABLE' }
      await expect(store.append([batchOf(chainOf(), [at(1)])])).rejects.toMatchObject(unavailable)
      await expect(store.read({ streamPartId: part, ...all }, { maxBytes: 1 })).rejects.toMatchObject(
        unavailable,
      )
      await expect(store.last(part, 1)).rejects.toMatchObject(unavailable)
      await expect(store.has(chainOf(), at(1))).rejects.toMatchObject(unavailable)
      await expect(store.prune(part, {})).rejects.toMatchObject(unavailable)
      await expect(store.delegationsOf([])).rejects.toMatchObject(unavailable)
      await expect(store.usage()).rejects.toMatchObject(unavailable)
      await expect(store.getMark('a')).rejects.toMatchObject(unavailable)
      await expect(store.setMark('a', 'b')).rejects.toMatchObject(unavailable)
      await store.open()
      expect(await read()).toEqual([])
    })

    it('lets many write and read at once; every read is of batches that were appended, in order', async () => {
      const chains = Array.from({ length: 4 }, (_, i) => chainOf(`writer ${i}`))
      const write = async (index: number) => {
        const chain = chains[index] ?? chainOf()
        for (let i = 0; i < 30; i++) await store.append([batchOf(chain, [at(2 * i), at(2 * i + 1)])])
      }
      let writing = true
      const readWhileWriting = async () => {
        let seen = 0
        do {
          const batches = (await readAll(store, {}, 2000)).map(decodeBatch)
          expect(batches.map(spanOf)).toEqual([...batches].sort(compareBatches).map(spanOf))
          expect(batches.length).toBeGreaterThanOrEqual(seen)
          seen = batches.length
        } while (writing)
      }
      const readers = [readWhileWriting(), readWhileWriting()]
      await Promise.all(chains.map((_, index) => write(index)))
      writing = false
      await Promise.all(readers)
      expect(await read()).toHaveLength(120)
      expect(await store.last(part, 1000)).toEqual({ from: at(0), to: at(59), count: 240 })
    })

    it.each(seeds)('does what a list in memory does, with random batches of seed %i', async (seed) => {
      await compareWithModel(store, seededRandom(seed), questions)
    })
  })
}

/** Random batches, overlapping and of all lengths, against the same in a plain list. */
async function compareWithModel(store: MessageStore, random: Random, questions: number): Promise<void> {
  const pick = (count: number) => Math.floor(random.next() * count)
  const someRef = () => at([10, 300, 70_000, 20_000_000][pick(4)] ?? 0, 0)
  const randomRef = () => at(pick(someRef().timestamp) + 1, pick(3))
  const model = new Map<string, MessageBatch>()
  for (let i = 0; i < 60; i++) {
    const chain = chainOf(`chain ${pick(3)}`, nodeId(pick(2) + 1))
    const count = [1, 2, 5, 40][pick(4)] ?? 1
    const { timestamp } = randomRef()
    const spanMs = [1, 10, 300, 4_000, limits.maxBatchSpanMs][pick(5)] ?? 1
    const randomNear = () => at(timestamp + pick(spanMs), pick(3))
    const places = new Map(Array.from({ length: count }, randomNear).map((ref) => [JSON.stringify(ref), ref]))
    const batch = batchOf(chain, [...places.values()].sort(compareRefs))
    const key = JSON.stringify([chain, refsOf([batch]).at(0), refsOf([batch]).at(-1)])
    if (model.has(key)) continue
    model.set(key, batch)
    await store.append([batch])
  }
  const batches = [...model.values()].sort(compareBatches)
  for (let i = 0; i < questions; i++) {
    const [from = at(0), to = at(0)] = [randomRef(), randomRef()].sort(compareRefs)
    const filter =
      [{}, { publisherId: nodeId(1) }, { publisherId: nodeId(2), messageChainId: 'chain 1' }][pick(3)] ?? {}
    const matching = batches.filter(({ chain }) => matches(chain, filter))
    const inside = matching.filter((batch) => {
      const refs = refsOf([batch])
      return compareRefs(refs[0] ?? to, to) <= 0 && compareRefs(refs.at(-1) ?? from, from) >= 0
    })
    const found = (await readAll(store, { from, to, ...filter }, pick(5000) + 1)).map(decodeBatch)
    expect(found.map(spanOf)).toEqual(inside.map(spanOf))
    expect(inModelOrder(found)).toEqual(hexOf(inside))
    const refs = distinctRefs(matching)
    const count = pick(refs.length + 20) + 1
    expect(await store.last(part, count, filter)).toEqual({
      from: refs.at(-count) ?? refs[0],
      to: refs.at(-1),
      count: Math.min(count, refs.length),
    })
    const place = randomRef()
    const chain = chainOf('chain 1', nodeId(1))
    const holds = batches.some(
      (one) => matches(one.chain, chain) && refsOf([one]).some((ref) => !compareRefs(ref, place)),
    )
    expect(await store.has(chain, place)).toBe(holds)
  }
}

/** What pages are ordered by. */
function spanOf({ messages }: MessageBatch): readonly (number | undefined)[] {
  const [first, last] = [messages[0], messages.at(-1)]
  return [first?.timestamp, first?.sequenceNumber, last?.timestamp, last?.sequenceNumber]
}

/** Those of one place are in an order of the engine's own. */
function inModelOrder(batches: readonly MessageBatch[]): readonly string[] {
  return hexOf([...batches].sort(compareBatches))
}

function matches(
  chain: MessageBatch['chain'],
  filter: Pick<StoredRange, 'publisherId' | 'messageChainId'>,
): boolean {
  return (
    (filter.publisherId === undefined || filter.publisherId === chain.publisherId) &&
    (filter.messageChainId === undefined || filter.messageChainId === chain.messageChainId)
  )
}

function refsOf(batches: readonly MessageBatch[]): MessageRef[] {
  return batches.flatMap(({ messages }) =>
    messages.map(({ timestamp, sequenceNumber }) => ({ timestamp, sequenceNumber })),
  )
}

/** Places of all messages, oldest first; each message once, but two of different chains may be at the same place. */
function distinctRefs(batches: readonly MessageBatch[]): MessageRef[] {
  const messages = batches.flatMap(({ chain, messages }) =>
    messages.map(
      ({ timestamp, sequenceNumber }) =>
        [JSON.stringify([chain, timestamp, sequenceNumber]), { timestamp, sequenceNumber }] as const,
    ),
  )
  return [...new Map(messages).values()].sort(compareRefs)
}
