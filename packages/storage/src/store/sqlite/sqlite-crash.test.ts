import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { compareRefs, decodeBatch, seededRandom, type MessageRef } from '@runnel/protocol'
import { afterAll, describe, expect, it } from 'vitest'
import { readAll } from '../conformance.testkit.ts'
import { at } from '../batches.testkit.ts'
import { SqliteStore } from './sqlite-store.ts'

/** When to kill: after so many lines of acknowledged appends, or, before the store is open, after a part of the time it takes to open. */
type Moment = { readonly lines: number } | { readonly openingMs: number }

const child = fileURLToPath(new URL('./crash-child.testkit.ts', import.meta.url))
const directory = mkdtempSync(join(tmpdir(), 'runnel-crash-'))
afterAll(() => rmSync(directory, { recursive: true }))

/** Runs the writing process on the store and kills it; the lines it had written. */
async function writeUntilKilled(seed: string, moment: Moment): Promise<string[]> {
  const arguments_ = ['--conditions=runnel-src', child, directory, seed]
  const writing = spawn(process.execPath, arguments_, { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines: string[] = []
  const kill = () => writing.kill('SIGKILL')
  const output = createInterface(writing.stdout).on('line', (line) => {
    lines.push(line)
    if ('lines' in moment && lines.length === moment.lines + 2) kill()
    if ('openingMs' in moment && line === 'started') setTimeout(kill, moment.openingMs)
  })
  const [[, signal]] = await Promise.all([once(writing, 'exit'), once(output, 'close')])
  expect(signal).toBe('SIGKILL')
  return lines.filter((line) => /^\d/.test(line))
}

const random = seededRandom('kill -9')
const moments = Array.from({ length: 30 }, (_, index): Moment => {
  if (index % 5 === 0) return { openingMs: Math.floor(random.next() * 400) }
  return { lines: Math.floor(random.next() ** 3 * 2000) }
})

describe('a store whose process is killed', () => {
  const acknowledged: { readonly chain: string; readonly first: MessageRef; readonly last: MessageRef }[] = []

  it.each(moments.map((moment, index) => [index, JSON.stringify(moment), moment] as const))(
    'opens again with everything that was acknowledged: %i, %s',
    async (index, _, moment) => {
      for (const line of await writeUntilKilled(String(index), moment)) {
        const [writer, ...numbers] = line.split(' ').map(Number)
        const [firstTime = 0, firstNumber, lastTime = 0, lastNumber] = numbers
        const [first, last] = [at(firstTime, firstNumber), at(lastTime, lastNumber)]
        acknowledged.push({ chain: `writer ${writer}`, first, last })
      }
      const store = new SqliteStore({ directory })
      await store.open()
      const stored = new Set(
        (await readAll(store, {}, 4_000_000)).map((bytes) => {
          const { chain, messages } = decodeBatch(bytes)
          return keyOf(chain.messageChainId, messages[0] ?? at(-1), messages.at(-1) ?? at(-1))
        }),
      )
      await store.close()
      const lost = acknowledged.filter(({ chain, first, last }) => !stored.has(keyOf(chain, first, last)))
      expect(lost).toEqual([])
      const database = new Database(store.location, { readonly: true })
      expect(database.pragma('integrity_check', { simple: true })).toBe('ok')
      database.close()
    },
  )

  it('was killed in the middle of its work', () => {
    expect(acknowledged.length).toBeGreaterThan(1000)
  })
})

function keyOf(chain: string, first: MessageRef, last: MessageRef): string {
  expect(compareRefs(first, last)).toBeLessThanOrEqual(0)
  const numbers = [first, last].flatMap(({ timestamp, sequenceNumber }) => [timestamp, sequenceNumber])
  return [chain, ...numbers].join(' ')
}
