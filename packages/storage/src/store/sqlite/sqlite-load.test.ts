import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { at, batchOf, chainOf, owner, partOf } from '../batches.testkit.ts'
import { maxLogBytes } from './database.ts'
import { SqliteStore } from './sqlite-store.ts'

const directory = mkdtempSync(join(tmpdir(), 'runnel-load-'))
const store = new SqliteStore({ directory })
const append = (fromMs: number, count: number, chain = chainOf()) =>
  store.append(Array.from({ length: count }, (_, i) => batchOf(chain, [at(fromMs + i)])))
const rare = 'rare'

/** So much that looking through all of it takes longer than what is written or read meanwhile. */
beforeAll(async () => {
  await store.open()
  await append(1, 1, chainOf(rare))
  for (let i = 1; i <= 40; i++) await append(1_000 * i, 1_000)
  await append(100_000, 1, chainOf(rare))
})
afterAll(async () => {
  await store.close()
  rmSync(directory, { recursive: true })
})

it('keeps its log short while somebody always counts', async () => {
  const logBytes = () => statSync(join(directory, 'messages.sqlite-wal')).size
  let isOver = false
  const count = async () => {
    while (!isOver) await store.last(partOf(0), 1_000_000)
  }
  const counting = [count(), count()]
  let longest = 0
  for (let i = 0; i < 48; i++) {
    await store.setMark('much to write', `${i % 10}`.repeat(maxLogBytes / 16))
    await append(1_000_000 + i, 1)
    longest = Math.max(longest, logBytes())
  }
  isOver = true
  await Promise.all(counting)
  expect(longest).toBeGreaterThan(maxLogBytes)
  expect(longest).toBeLessThan(2 * maxLogBytes)
})

it('gives a page while chains are searched for among all that their publisher has', async () => {
  const everything = { streamPartId: partOf(0), from: at(0), to: at(200_000) }
  const chain = { publisherId: owner, messageChainId: rare }
  let searched = 0
  const searches = Array.from({ length: 50 }, async () => {
    const { batches } = await store.read({ ...everything, ...chain }, { maxBytes: 1_000_000 })
    searched++
    return batches.length
  })
  await store.read(everything, { maxBytes: 1 })
  expect(searched).toBeLessThan(10)
  expect(new Set(await Promise.all(searches))).toEqual(new Set([2]))
})
