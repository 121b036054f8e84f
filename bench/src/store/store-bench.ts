import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadCrypto, type Crypto } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { createStore, type MessageStore } from '@runnel/storage'
import { beginPhase, showProgress } from '../phase.ts'
import { percentile, round } from '../statistics.ts'
import { BareSqlite } from './bare-sqlite.ts'
import { BatchSource, messageBytes } from './batch-source.ts'

export interface StoreBenchOptions {
  /** Appended with each size of batch. */
  readonly messages: number
  /** Stored when `last 10` is asked for. */
  readonly history: number
}

const batchSizes = [1, 16, 256]
/** Made before the clock runs, and stored then. */
const messagesPerRound = 20_000
const lookUps = 200
const readMessages = 100_000
const pageBytes = 1024 * 1024

/** Storing and reading 200-byte messages in SQLite, beside bare inserts of the same bytes. */
export async function storeBench({ messages, history }: StoreBenchOptions) {
  const crypto = await loadCrypto()
  const directory = mkdtempSync(join(tmpdir(), 'runnel-bench-'))
  try {
    const ingest: Record<string, Awaited<ReturnType<typeof benchIngest>>> = {}
    for (const perBatch of batchSizes) {
      const inside = join(directory, String(perBatch))
      ingest[`batchesOf${perBatch}`] = await benchIngest(crypto, inside, messages, perBatch)
    }
    return {
      bench: 'store',
      engine: 'sqlite',
      messages,
      messageBytes,
      ingest,
      ...(await benchReading(crypto, join(directory, 'history'), history)),
    }
  } finally {
    rmSync(directory, { recursive: true })
  }
}

async function openStore(directory: string): Promise<MessageStore> {
  const store = createStore({ engine: 'sqlite', directory }, { clock: systemClock })
  await store.open()
  return store
}

/** Each batch is appended by itself, as it would come from the network, and is on the disk before its round is over. */
async function benchIngest(crypto: Crypto, directory: string, messages: number, perBatch: number) {
  const store = await openStore(directory)
  const bare = { FULL: new BareSqlite(directory, 'FULL'), OFF: new BareSqlite(directory, 'OFF') }
  const source = new BatchSource(crypto, 'ingest')
  const ms = { store: 0, FULL: 0, OFF: 0 }
  let stored = 0
  beginPhase(`storing, ${perBatch} a batch`)
  showProgress(() => `${stored} of ${messages} messages`)
  while (stored < messages) {
    const batches = source.take(messagesPerRound, perBatch)
    stored += batches.length * perBatch
    ms.store += await msOf(() => Promise.all(batches.map((batch) => store.append([batch]))))
    ms.FULL += await msOf(() => bare.FULL.insert(batches))
    ms.OFF += await msOf(() => bare.OFF.insert(batches))
  }
  await store.close()
  const bytesOnDisk = bytesIn(directory)
  bare.FULL.close()
  bare.OFF.close()
  const rate = (total: number) => round((1000 * stored) / total)
  return {
    messagesPerS: rate(ms.store),
    bytesOnDiskPerMessage: round(bytesOnDisk / stored),
    baseline: { bareMessagesPerS: rate(ms.FULL), bareWithoutFsyncMessagesPerS: rate(ms.OFF) },
    ratio: { bareToStore: round(ms.store / ms.FULL), bareWithoutFsyncToStore: round(ms.store / ms.OFF) },
  }
}

async function benchReading(crypto: Crypto, directory: string, history: number) {
  const store = await openStore(directory)
  const source = new BatchSource(crypto, 'history')
  const { streamPartId } = source
  let stored = 0
  beginPhase('storing history')
  showProgress(() => `${stored} of ${history} messages`)
  for (; stored < history; stored += messagesPerRound) {
    await store.append(source.take(Math.min(messagesPerRound, history - stored), 256))
  }
  beginPhase('reading')
  const lastMs: number[] = []
  for (let i = 0; i < lookUps; i++) lastMs.push(await msOf(() => store.last(streamPartId, 10)))
  let bytes = 0
  const readMs = await msOf(async () => {
    const range = await store.last(streamPartId, readMessages)
    if (range === undefined) throw new Error('nothing is stored')
    let after: string | undefined
    do {
      const paging = after === undefined ? { maxBytes: pageBytes } : { maxBytes: pageBytes, after }
      const page = await store.read({ streamPartId, from: range.from, to: range.to }, paging)
      for (const batch of page.batches) bytes += batch.length
      after = page.next
    } while (after !== undefined)
  })
  await store.close()
  return {
    last10: {
      outOf: history,
      p50Ms: round(percentile(lastMs, 0.5)),
      p95Ms: round(percentile(lastMs, 0.95)),
    },
    readLast: { messages: Math.min(readMessages, history), bytes, ms: round(readMs) },
  }
}

async function msOf(work: () => unknown): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** Of a database, whose newest pages may still be in the log beside it. */
function bytesIn(directory: string): number {
  const files = readdirSync(directory).filter((name) => name.startsWith('messages.sqlite'))
  return files.reduce((sum, name) => sum + statSync(join(directory, name)).size, 0)
}
