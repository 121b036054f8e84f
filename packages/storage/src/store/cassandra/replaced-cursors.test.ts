import { expect, it } from 'vitest'
import { nodeId } from '../batches.testkit.ts'
import { replacedCursors } from './replaced-cursors.ts'
import type { StoredBatch } from './stored-batch.ts'

function cursor(name: string, firstTime: number, lastTime = firstTime): StoredBatch {
  const publisher = nodeId(1)
  const place = { firstTime, firstNumber: 0, lastTime, lastNumber: 0, level: 0, bucket: 0 }
  return { ...place, publisher, name, chain: `${publisher} ${name}`, messages: 1, size: 9, bytes: undefined }
}

async function replaced(batches: readonly StoredBatch[], beforeMs = 1_000, maxChains = 9) {
  async function* one() {
    for (const batch of batches) yield await Promise.resolve(batch)
  }
  const found: string[] = []
  for await (const { name, firstTime } of replacedCursors(one(), beforeMs, maxChains))
    found.push(`${name} ${firstTime}`)
  return found
}

it('finds the cursors of a chain that end before its latest, and before the time', async () => {
  expect(
    await replaced([cursor('@a', 1), cursor('@b', 2), cursor('k', 3), cursor('@a', 4), cursor('k', 5)]),
  ).toEqual(['@a 1'])
  expect(
    await replaced([cursor('@a', 1, 9), cursor('@a', 2, 8), cursor('@a', 3, 9), cursor('@a', 4, 10)]),
  ).toEqual(['@a 2', '@a 1', '@a 3'])
  expect(await replaced([cursor('@a', 1), cursor('@a', 7), cursor('@a', 8)], 7)).toEqual(['@a 1'])
})

it('remembers so many chains, those of which some came last', async () => {
  const many = ['@x', '@y', '@z'].map((name, i) => cursor(name, 10 + i))
  expect(await replaced([cursor('@a', 1), ...many, cursor('@a', 20), cursor('@z', 21)], 1_000, 2)).toEqual([
    '@z 12',
  ])
})

it('remembers so many that end together', async () => {
  const together = Array.from({ length: 150 }, (_, i) => cursor('@a', i, 200))
  expect(await replaced([...together, cursor('@a', 300)])).toHaveLength(100)
})
