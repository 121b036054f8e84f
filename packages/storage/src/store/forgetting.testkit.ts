import { decodeBatch, keyPartition, type MessageBatch } from '@runnel/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { at, batchOf, byRef, chainOf, delegationOf, keyedBatch, partOf } from './batches.testkit.ts'
import { readAll, type StorePlace } from './conformance.testkit.ts'
import type { MessageStore } from './message-store.ts'

/** A place for messages of which it is known how many delegations are there. */
export interface ForgettingPlace extends StorePlace {
  /** Lets so much time pass that nothing can be under way. */
  settle(): void
  delegations(): Promise<number>
}

const part = partOf(0)
const keyPart = partOf(keyPartition)
const hourMs = 3_600_000

/** That every engine deletes the delegations that no batch names any more. */
export function testForgetting(name: string, newPlace: () => Promise<ForgettingPlace>): void {
  describe(`delegations that nothing names any more: ${name}`, { timeout: 60_000 }, () => {
    const delegations = Array.from({ length: 20 }, (_, i) => delegationOf(i))
    const byRefs = byRef(...delegations)
    let place: ForgettingPlace
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

    const batchUnder = (i: number, name = 'chain', partition = 0, keys: number[] = [], ms = 10 + i) =>
      keyedBatch(chainOf(name, undefined, partition), keys, [at(ms)], 0, delegations[i])
    const known = async (...batches: readonly (MessageBatch | undefined)[]) =>
      (await store.delegationsOf(batches.filter((one) => one !== undefined))).size

    it('go with the last batch of their time', async () => {
      const early = batchUnder(0, 'a', 0, [], 1)
      const middle = batchUnder(1, 'b', 0, [], 2)
      const late = batchUnder(1, 'b', 0, [], hourMs)
      await store.append([early, middle, late], byRefs)
      place.settle()
      await store.prune(part, { olderThanMs: 2 })
      expect([await known(middle), await known(late)]).toEqual([1, 1])
      await store.prune(part, { olderThanMs: hourMs })
      expect([await known(early), await known(middle), await known(late)]).toEqual([0, 0, 1])
      await store.prune(part, { maxBytes: 0 })
      expect([await known(late), await place.delegations()]).toEqual([0, 0])
    })

    it('go while the last value of a key stays', async () => {
      const kept = batchUnder(0, 'value', 0, [1])
      const later = batchUnder(3, 'chain', 0, [], hourMs)
      await store.append([kept, ...delegations.map((_, i) => batchUnder(i)), later], byRefs)
      expect(await place.delegations()).toBe(21)
      place.settle()
      await store.prune(part, { olderThanMs: hourMs, values: { fromMs: 0, maxKeys: 10 } })
      expect(await place.delegations()).toBe(2)
      expect([await known(kept), await known(later)]).toEqual([1, 1])
    })

    it('go with cursors that were replaced', async () => {
      const cursors = delegations.map((_, i) => batchUnder(i, '@cursor', keyPartition))
      const key = batchUnder(0, 'key', keyPartition)
      await store.append([...cursors, key], byRefs)
      place.settle()
      await store.prune(keyPart, { replacedBeforeMs: 1_000 })
      expect(await place.delegations()).toBe(2)
      expect(await known(cursors.at(-1), key)).toBe(2)
    })

    it('go with the one of two contradicting batches that does not count', async () => {
      const hours = Array.from({ length: 6 }, (_, hour) => hour)
      for (const hour of hours) {
        const two = [0, 1].map((i) => batchOf(chainOf(), [at(hour * hourMs)], 20, i, delegations[i]))
        for (const batch of hour % 2 === 0 ? two : two.toReversed()) await store.append([batch], byRefs)
      }
      place.settle()
      await store.prune(part, {})
      expect(await known(...(await readAll(store)).map(decodeBatch))).toBeGreaterThan(0)
      expect(await place.delegations()).toBe(hours.length)
      await store.prune(part, { olderThanMs: 6 * hourMs })
      expect(await place.delegations()).toBe(0)
    })
  })
}
