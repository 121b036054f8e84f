import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  buildBatch,
  ContentType,
  encodeDelegation,
  loadCrypto,
  toStreamId,
  type Identity,
  type MessageBatch,
  type RunnelError,
} from '@runnel/protocol'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { delegationFrom, identityOf, refOf } from '../delegations.testkit.ts'
import { at, batchOf, chainOf } from '../store/batches.testkit.ts'
import { openTestStore, type TestStore } from '../storage.testkit.ts'
import { exportLines, readExport } from './export-lines.ts'
import { importBatches } from './import-batches.ts'
import { SqliteFile } from '../store/sqlite/sqlite-file.ts'
import { storedBatches, type Extract, type StoredBatch } from './stored-batches.ts'

const crypto = await loadCrypto()
const [owner, delegate, stranger] = [identityOf('owner'), identityOf('delegate'), identityOf('stranger')]
const streamId = toStreamId(`${owner.nodeId}/kept`)
const other = toStreamId(`${owner.nodeId}/other`)
const delegation = delegationFrom(owner, delegate)

function batch(timestamp: number, signer: Identity = owner, stream = streamId): MessageBatch {
  const chain = { streamId: stream, partition: 0, publisherId: owner.nodeId, messageChainId: 'c' }
  const message = {
    ...{ timestamp, sequenceNumber: 0, previous: undefined, contentType: ContentType.text },
    ...{ encryptionType: 0, groupKeyId: '', content: new Uint8Array(100).fill(timestamp) },
  }
  const delegationRef = signer === owner ? undefined : refOf(delegation)
  return buildBatch({ chain, messages: [message] }, crypto, { sign: signer.sign, delegationRef })
}

let from: TestStore
let to: TestStore
let directory: string
beforeEach(async () => {
  ;[from, to] = await Promise.all([openTestStore(), openTestStore()])
  directory = mkdtempSync(join(tmpdir(), 'runnel-backup-'))
})
afterEach(async () => {
  await Promise.all([from.remove(), to.remove()])
  rmSync(directory, { recursive: true })
})

const fill = (batches: readonly MessageBatch[]) =>
  from.store.append(batches, new Map([[refOf(delegation), encodeDelegation(delegation)]]))

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

async function* numbered(lines: readonly string[]) {
  for (const [i, text] of lines.entries()) yield { number: i + 1, text }
}

const exported = (extract?: Extract) => all(exportLines(storedBatches(from.store, extract)))

async function imported(lines: readonly string[]) {
  const refused: [string, number | undefined][] = []
  const onRefused = ({ code }: RunnelError, line: number | undefined) => refused.push([code, line])
  const total = await importBatches(readExport(numbered(lines)), { store: to.store, crypto, onRefused })
  return { total, refused }
}

const bytesIn = async (store: TestStore['store']) =>
  (await all(storedBatches(store))).map(({ batch: { bytes } }) => Buffer.from(bytes).toString('hex'))

it('an export is imported as it was, with delegations, and again without a change', async () => {
  await fill([
    ...Array.from({ length: 1_200 }, (_, i) => batch(i + 1)),
    batch(5_000, delegate),
    batch(1, owner, other),
  ])
  const lines = await exported()
  for (let times = 0; times < 2; times++)
    expect(await imported(lines)).toEqual({
      total: { batches: 1_202, messages: 1_202, refused: 0 },
      refused: [],
    })
  expect(await bytesIn(to.store)).toEqual(await bytesIn(from.store))
  const delegated = await all(storedBatches(to.store, { fromMs: 5_000 }))
  expect(delegated.map((one) => one.delegation)).toEqual([encodeDelegation(delegation)])
})

it('is of the streams and times that are asked for', async () => {
  await fill([batch(1), batch(2), batch(3), batch(2, owner, other)])
  const timesOf = (batches: readonly StoredBatch[]) => batches.map((one) => one.batch.messages[0]?.timestamp)
  expect(
    timesOf(await all(storedBatches(from.store, { streamIds: [streamId], fromMs: 2, toMs: 3 }))),
  ).toEqual([2, 3])
  expect(await exported({ streamIds: [] })).toHaveLength(2)
})

it('lines may be taken out of an export; what is not genuine is left out and named', async () => {
  await fill([batch(1), batch(2), batch(3), batch(4, delegate)])
  const [head = '', first = '', , third = '', delegated = '', end = ''] = await exported()
  const changed = JSON.parse(first) as { batch: string }
  const bytes = Buffer.from(changed.batch, 'base64')
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 80) ^ 1, bytes.length - 80)
  const without = { ...(JSON.parse(delegated) as object), delegation: undefined }
  const strangers = encodeDelegation(delegationFrom(stranger, delegate))
  const exchanged = { ...without, delegation: Buffer.from(strangers).toString('base64') }
  const lines = [
    head,
    JSON.stringify({ batch: bytes.toString('base64') }),
    third,
    'nonsense',
    '{"batch":"AAAA"}',
  ]
  const wrong = [JSON.stringify(without), JSON.stringify(exchanged)]
  const { total, refused } = await imported([...lines, ...wrong, end])
  expect(total).toEqual({ batches: 1, messages: 1, refused: 5 })
  expect(refused).toEqual([
    ['BATCH_NOT_GENUINE', undefined],
    ['EXPORT_INVALID', 4],
    ['UNSUPPORTED_VERSION', 5],
    ['BATCH_NOT_GENUINE', undefined],
    ['BATCH_NOT_GENUINE', undefined],
  ])
})

it('an export without its end, and what is none, are refused', async () => {
  await fill([batch(1)])
  const lines = await exported()
  await expect(imported(lines.slice(0, -1))).rejects.toMatchObject({ code: 'EXPORT_INVALID' })
  await expect(imported(lines.slice(1))).rejects.toMatchObject({ code: 'EXPORT_INVALID' })
})

it('a copy of a store in use is one file for this user only, and is imported', async () => {
  await fill([batch(1), batch(2, delegate)])
  const opened = SqliteFile.open(from.store.location)
  const path = join(directory, 'copy.sqlite')
  expect(await opened.copyTo(path)).toBe(statSync(path).size)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  await expect(opened.copyTo(path)).rejects.toMatchObject({ code: 'FILE_EXISTS' })
  await opened.close()
  const copy = SqliteFile.open(path)
  const total = await importBatches(storedBatches(copy), {
    store: to.store,
    crypto,
    onRefused: () => expect.unreachable(),
  })
  expect(total).toEqual({ batches: 2, messages: 2, refused: 0 })
  await copy.close()
})

it('a copy is as the store was when it began, whatever is committed meanwhile, and then others may be read', async () => {
  await from.store.append([1, 2, 3].map((time) => batchOf(chainOf(), [at(time)], 900_000)))
  const writer = new Database(from.store.location)
  writer.exec('CREATE TABLE commits (number)')
  const insert = writer.prepare('INSERT INTO commits VALUES (1)')
  const opened = SqliteFile.open(from.store.location)
  const path = join(directory, 'copy.sqlite')
  let [committed, isCopied] = [0, false]
  const commit = () => {
    if (isCopied || committed === 100) return
    committed += insert.run().changes
    setImmediate(commit)
  }
  const copying = opened.copyTo(path).finally(() => (isCopied = true))
  commit()
  await copying
  expect(committed).toBeGreaterThan(1)
  await from.store.append([batchOf(chainOf(), [at(4)])])
  expect(await opened.usage()).toMatchObject([{ batches: 4 }])
  await opened.close()
  writer.close()
  const copy = new Database(path)
  expect(copy.prepare('SELECT count(*) FROM commits').pluck().get()).toBe(0)
  copy.close()
})

it.each([
  ['that is missing', undefined, 'STORE_UNAVAILABLE'],
  ['that is no database', 'x'.repeat(5_000), 'STORE_CORRUPT'],
  ['that is empty', '', 'STORE_CORRUPT'],
])('a file %s is refused', (_, content, code) => {
  const path = join(directory, 'other.sqlite')
  if (content !== undefined) writeFileSync(path, content)
  expect(() => SqliteFile.open(path)).toThrow(expect.objectContaining({ code }))
})
