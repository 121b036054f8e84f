import { expect, it } from 'vitest'
import { notePartition, objectPartition } from './partitions.ts'

it('each partition of a session has one of its recording, beside the notes, as far as there are any', () => {
  const places = (partitions: number) => [0, 1, 2, 3].map((it) => objectPartition(it, partitions))
  expect(notePartition).toBe(0)
  expect(places(5)).toEqual([1, 2, 3, 4])
  expect(places(2)).toEqual([1, 1, 1, 1])
  expect(places(1)).toEqual([0, 0, 0, 0])
})
