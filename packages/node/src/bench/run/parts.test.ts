import { expect, it } from 'vitest'
import { partsOf, requireParts, type PartOptions } from './parts.ts'

it.each<[PartOptions, number]>([
  [{ clients: 10, streams: 2 }, 2],
  [{ clients: 11, streams: 1, room: 5 }, 3],
  [{ clients: 10, streams: 1, room: 5, most: 500 }, 100],
])('counts the overlays of %j: %i', (options, parts) => expect(partsOf(options)).toBe(parts))

it.each<[PartOptions, string]>([
  [{ clients: 4, streams: 2 }, '--streams 2 needs 2 partitions, more than the 1 of /bench'],
  [{ clients: 4, streams: 1, room: 2 }, '--room 2 for 4 users (--clients) needs 2 partitions'],
  [{ clients: 4, streams: 1, room: 2, most: 200 }, '--room 2 for up to 200 users (--most) needs 100'],
  [{ clients: 4, streams: 3 }, 'runnel stream create /NAME --partitions 3'],
  [{ clients: 200, streams: 101 }, 'ask for less'],
])('says which options ask for more than a stream has: %j', (options, text) => {
  expect(() => requireParts(options, '/bench', 1)).toThrow(text)
})

it('says nothing where the stream has enough', () =>
  expect(requireParts({ clients: 4, streams: 1, room: 2 }, '/bench', 2)).toBeUndefined())
