import { beforeEach, describe, expect, it } from 'vitest'
import { clientError } from '../errors.ts'
import type { MessagePlace } from '../resend/wait-for-storage.ts'
import { UnconfirmedRecords } from './unconfirmed-records.ts'
import { streamId } from './world.testkit.ts'

const placeOf = (messageChainId: string, timestamp = 0): MessagePlace => ({
  ...{ streamId, partition: 100, publisherId: 'opener', messageChainId },
  ...{ timestamp, sequenceNumber: 0 },
})
const { signal } = new AbortController()

let asked: string[]
let again: string[]
/** How a storage node answers when it is asked for a record. */
let answer: (place: MessagePlace) => 'stored' | 'NOT_STORED_IN_TIME' | 'NO_STORAGE_NODE'
let records: UnconfirmedRecords
beforeEach(() => {
  asked = []
  again = []
  answer = () => 'stored'
  records = new UnconfirmedRecords({
    keyPart: {
      publishAgain: (place) => {
        if (place.messageChainId === 'replaced') return undefined
        again.push(place.messageChainId)
        return { ...place, timestamp: place.timestamp + 1 }
      },
    },
    stored: async ([place = placeOf('none')]) => {
      asked.push(place.messageChainId)
      const code = answer(place)
      if (code !== 'stored') throw clientError(code)
    },
  })
})
const add = (...names: readonly string[]) => names.forEach((name) => records.add(placeOf(name)))

describe('records that may not be stored', () => {
  it('are asked for once', async () => {
    add('a', 'b')
    await records.settle(signal)
    await records.settle(signal)
    expect([asked, again]).toEqual([['a', 'b'], []])
  })

  it('are published again until all are stored', async () => {
    answer = ({ messageChainId, timestamp }) =>
      messageChainId === 'a' || timestamp === (messageChainId === 'b' ? 1 : 2)
        ? 'stored'
        : 'NOT_STORED_IN_TIME'
    add('a', 'b', 'c')
    await records.settle(signal)
    expect([asked, again]).toEqual([
      ['a', 'b', 'c', 'b', 'c', 'c'],
      ['b', 'c', 'c'],
    ])
  })

  it('are not, where a later one took their place', async () => {
    answer = ({ messageChainId }) => (messageChainId === 'a' ? 'stored' : 'NOT_STORED_IN_TIME')
    add('a', 'replaced')
    await records.settle(signal)
    expect(asked).toEqual(['a', 'replaced'])
  })

  it('are published once more and left for the next time where none is stored', async () => {
    answer = () => 'NOT_STORED_IN_TIME'
    add('a', 'b')
    await expect(records.settle(signal)).rejects.toMatchObject({ code: 'NOT_STORED_IN_TIME' })
    expect(again).toEqual(['a', 'b'])
    answer = ({ timestamp }) => (timestamp === 1 ? 'stored' : 'NOT_STORED_IN_TIME')
    await records.settle(signal)
    expect(again).toEqual(['a', 'b'])
  })

  it('are not published again without end', async () => {
    const names = Array.from({ length: 10 }, (_, i) => `${i}`)
    answer = ({ messageChainId, timestamp }) =>
      Number(messageChainId) === timestamp ? 'stored' : 'NOT_STORED_IN_TIME'
    add(...names)
    await expect(records.settle(signal)).rejects.toMatchObject({ code: 'NOT_STORED_IN_TIME' })
    expect(again).toHaveLength(9 + 8 + 7 + 6 + 5)
  })

  it('stay where nobody stores any, which is said, until there is a storage node', async () => {
    answer = () => 'NO_STORAGE_NODE'
    add('a')
    await expect(records.settle(signal)).rejects.toMatchObject({ code: 'NO_STORAGE_NODE' })
    expect(records.isUnstored).toBe(true)
    answer = () => 'stored'
    add('b')
    await records.settle(signal)
    expect(records.isUnstored).toBe(false)
    expect([asked, again]).toEqual([['a', 'a', 'b'], []])
  })

  it('are a thousand at most: the newest', async () => {
    add(...Array.from({ length: 1_001 }, (_, i) => `${i}`))
    await records.settle(signal)
    expect([asked.length, asked[0]]).toEqual([1_000, '1'])
  })

  it('are settled one time after the other', async () => {
    const answered = Promise.withResolvers<void>()
    const slow = new UnconfirmedRecords({
      keyPart: { publishAgain: () => undefined },
      stored: () => answered.promise,
    })
    slow.add(placeOf('a'))
    const settled: string[] = []
    const both = [slow.settle(signal), slow.settle(signal)].map((one, i) =>
      one.then(() => settled.push(`${i}`)),
    )
    await new Promise((resolve) => setImmediate(resolve))
    expect(settled).toEqual([])
    answered.resolve()
    await Promise.all(both)
    expect(settled).toEqual(['0', '1'])
  })
})
