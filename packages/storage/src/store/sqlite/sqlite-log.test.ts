import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { at, batchOf, chainOf, partOf } from '../batches.testkit.ts'
import { maxLogBytes } from './database.ts'
import { SqliteStore } from './sqlite-store.ts'

it('keeps its log short while somebody always counts', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'runnel-log-'))
  const store = new SqliteStore({ directory })
  const append = (fromMs: number, count: number) =>
    store.append(Array.from({ length: count }, (_, i) => batchOf(chainOf(), [at(fromMs + i)])))
  const logBytes = () => statSync(join(directory, 'messages.sqlite-wal')).size
  await store.open()
  // So many that a count takes longer than what is written meanwhile.
  for (let i = 0; i < 40; i++) await append(1_000 * i, 1_000)
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
  await store.close()
  rmSync(directory, { recursive: true })
})
