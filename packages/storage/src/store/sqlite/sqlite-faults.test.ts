import { spawnSync } from 'node:child_process'
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { isRunnelError, type MessageBatch } from '@runnel/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { at, batchOf, chainOf, partOf } from '../batches.testkit.ts'
import { readAll } from '../conformance.testkit.ts'
import { SqliteStore } from './sqlite-store.ts'

/** A file system in memory of its own for the test, which can be filled up and made read-only; needs root. */
function mount(path: string, options: string): void {
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`mount as root failed: ${stderr}`)
}

const remount = (path: string, options: string) => mount(path, `remount,${options}`)

function batches(from: number, count: number, contentBytes = 1000): MessageBatch[] {
  return Array.from({ length: count }, (_, i) => batchOf(chainOf(), [at(from + i)], contentBytes))
}

let directory: string
let store: SqliteStore
let mounted = false
const file = () => join(directory, 'messages.sqlite')

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'runnel-faults-'))
  store = new SqliteStore({ directory })
})
afterEach(async () => {
  await store.close()
  if (mounted) spawnSync('umount', [directory])
  mounted = false
  rmSync(directory, { recursive: true })
})

function mountDirectory(options: string): void {
  mount(directory, options)
  mounted = true
}

async function failure(
  promise: Promise<unknown>,
): Promise<{ code: string; message: string; remedy: string }> {
  const error = await promise.then(() => undefined).catch((cause: unknown) => cause)
  if (!isRunnelError(error)) throw new Error('no coded error', { cause: error })
  const { code, message, remedy } = error
  return { code, message, remedy }
}

describe('a disk that is full', () => {
  it('is said, loses nothing that was acknowledged, and is forgotten when there is space again', async () => {
    mountDirectory('size=1m')
    await store.open()
    const acknowledged: MessageBatch[] = []
    let error: unknown
    for (let i = 0; error === undefined; i++) {
      const next = batches(20 * i, 20)
      await store.append(next).then(
        () => acknowledged.push(...next),
        (cause: unknown) => (error = cause),
      )
    }
    expect(error).toMatchObject({ code: 'STORE_FULL', message: expect.stringContaining(file()) as string })
    expect(await readAll(store, {}, 1_000_000)).toEqual(acknowledged.map(({ bytes }) => bytes))
    remount(directory, 'size=4m')
    const more = batches(1_000_000, 20)
    await store.append(more)
    expect(await readAll(store, {}, 1_000_000)).toEqual([...acknowledged, ...more].map(({ bytes }) => bytes))
    expect(await store.usage()).toMatchObject([{ batches: acknowledged.length + 20 }])
  })

  it('is said when there is not even room for an empty store', async () => {
    mountDirectory('size=8k')
    writeFileSync(join(directory, 'other'), new Uint8Array(8192))
    expect(await failure(store.open())).toMatchObject({
      code: 'STORE_FULL',
      message: expect.stringContaining(file()) as string,
    })
    remount(directory, 'size=1m')
    await store.open()
    await store.append(batches(0, 1))
  })
})

describe('a disk that is read-only', () => {
  it('is said when the store is opened', async () => {
    await store.open()
    await store.close()
    mountDirectory('size=1m')
    remount(directory, 'ro')
    expect(await failure(store.open())).toMatchObject({
      code: 'STORE_READ_ONLY',
      message: expect.stringContaining(file()) as string,
      remedy: expect.stringContaining('mount') as string,
    })
  })

  it('is said of an existing store too, which works again when it can be written', async () => {
    mountDirectory('size=4m')
    await store.open()
    await store.append(batches(0, 3))
    await store.close()
    remount(directory, 'ro')
    expect(await failure(store.open())).toMatchObject({ code: 'STORE_READ_ONLY' })
    remount(directory, 'rw')
    await store.open()
    await store.append(batches(3, 1))
    expect(await readAll(store)).toHaveLength(4)
  })
})

describe('a database that is damaged', () => {
  const overwrite = (offset: number, bytes: Uint8Array) => {
    const handle = openSync(file(), 'r+')
    writeSync(handle, bytes, 0, bytes.length, offset)
    closeSync(handle)
  }

  it('is said when its header is gone', async () => {
    writeFileSync(file(), 'this is no database, whatever its name says; '.repeat(200))
    const { code, message, remedy } = await failure(store.open())
    expect(code).toBe('STORE_CORRUPT')
    expect(message).toContain(file())
    expect(remedy).toContain('move the file')
  })

  it('is said when pages are found to be garbage, and the process goes on', async () => {
    await store.open()
    for (let i = 0; i < 20; i++) await store.append(batches(100 * i, 100))
    await store.close()
    const { size } = statSync(file())
    // All but the first pages, where the schema is.
    overwrite(16 * 4096, new Uint8Array(size - 16 * 4096).fill(0xa5))
    await store.open()
    const corrupt = { code: 'STORE_CORRUPT', message: expect.stringContaining(file()) as string }
    expect(await failure(readAll(store, {}, 100_000))).toMatchObject(corrupt)
    expect(await failure(store.last(partOf(0), 1_000_000))).toMatchObject(corrupt)
    expect(await failure(store.append(batches(10, 500)))).toMatchObject(corrupt)
  })

  it('is told from one of another program', async () => {
    const other = new Database(file())
    other.exec('CREATE TABLE mail (id INTEGER)')
    other.close()
    expect(await failure(store.open())).toMatchObject({
      code: 'STORE_CORRUPT',
      message: expect.stringContaining('another program') as string,
    })
  })
})

describe('opening a database', () => {
  it('refuses one of a newer version, and leaves it alone', async () => {
    await store.open()
    await store.append(batches(0, 1))
    await store.close()
    const newer = new Database(file())
    newer.pragma('user_version = 1000')
    newer.close()
    const { code, message } = await failure(store.open())
    expect(code).toBe('STORE_VERSION')
    expect(message).toContain('version 1000')
    const again = new Database(file())
    expect(again.pragma('user_version', { simple: true })).toBe(1000)
    again.close()
  })

  it('keeps what it makes from other users', async () => {
    const inner = new SqliteStore({ directory: join(directory, 'new', 'inner') })
    await inner.open()
    await inner.append(batches(0, 1))
    const mode = (name: string) => statSync(join(directory, name)).mode & 0o777
    expect(mode('new/inner')).toBe(0o700)
    for (const name of ['', '-wal', '-shm', '.lock']) {
      expect([name, mode(`new/inner/messages.sqlite${name}`)]).toEqual([name, 0o600])
    }
    await inner.close()
  })

  it('is refused while another has it open, and not after', async () => {
    await store.open()
    const second = new SqliteStore({ directory })
    expect(await failure(second.open())).toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('another') as string,
    })
    await store.close()
    await second.open()
    await second.close()
  })

  it('says that the directory cannot be made', async () => {
    writeFileSync(join(directory, 'file'), '')
    const inside = new SqliteStore({ directory: join(directory, 'file', 'inside') })
    expect(await failure(inside.open())).toMatchObject({ code: 'STORE_UNAVAILABLE' })
  })

  it('says that there is a directory where the file should be', async () => {
    mkdirSync(file())
    expect(await failure(store.open())).toMatchObject({ code: 'STORE_UNAVAILABLE' })
  })
})

describe('what waits for the store', () => {
  it('is bounded: more is refused, and what was taken is stored', async () => {
    const bounded = new SqliteStore({ directory, maxWaitingBytes: 20_000 })
    await bounded.open()
    const taken = bounded.append(batches(0, 15))
    expect(await failure(bounded.append(batches(100, 15)))).toMatchObject({ code: 'STORE_OVERLOADED' })
    await taken
    await bounded.append(batches(100, 15))
    expect(await readAll(bounded, {}, 100_000)).toHaveLength(30)
    await bounded.close()
  })

  it('is bounded in reads as well', async () => {
    await store.open()
    const answers = await Promise.allSettled(Array.from({ length: 1500 }, () => store.getMark('a')))
    const refused = answers.filter((answer) => answer.status === 'rejected')
    expect(refused).toHaveLength(500)
    expect(refused[0]?.reason).toMatchObject({ code: 'STORE_OVERLOADED' })
    expect(await store.getMark('a')).toBeUndefined()
  })
})
