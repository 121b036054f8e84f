import { chmodSync, closeSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { MessageBatch } from '@runnel/protocol'
import { storageError } from '../../errors.ts'
import type { MessageStore, PageCursor, StoredPage, StoredRange, StreamPartUsage } from '../message-store.ts'
import { delegationPlaceOf, type EncodedDelegations } from '../stored-delegations.ts'
import { BatchReader } from './batch-reader.ts'
import { openFile } from './database.ts'
import { fromEntryCursor, toEntryCursor } from './entry-cursor.ts'
import { unpack } from './packing.ts'
import { toFailure } from './sqlite-errors.ts'

/** What can be read of a message store. */
export type ReadableStore = Pick<MessageStore, 'location' | 'usage' | 'read' | 'delegationsOf' | 'close'>

/** Where a store with this directory keeps its messages. */
export const messageFileIn = (directory: string): string => join(directory, 'messages.sqlite')

/** A file of messages that is only read, in the caller's thread: a copy, or that of a node that runs. */
export class SqliteFile implements ReadableStore {
  readonly location: string
  readonly #database: Database.Database
  readonly #reader: BatchReader

  private constructor(path: string) {
    this.location = path
    this.#database = openFile(path)
    this.#reader = new BatchReader(this.#database)
  }

  /** Throws STORE_UNAVAILABLE, STORE_CORRUPT or STORE_VERSION. */
  static open(path: string): SqliteFile {
    return failing(path, () => new SqliteFile(path))
  }

  async usage(): Promise<readonly StreamPartUsage[]> {
    return failing(this.location, () => this.#reader.usage())
  }

  async read(
    { streamPartId, from, to, publisherId, messageChainId }: StoredRange,
    { maxBytes, after }: { readonly maxBytes: number; readonly after?: PageCursor },
  ): Promise<StoredPage> {
    const request = {
      ...{ streamPartId, from, to, publisherId, messageChainId, maxBytes },
      after: after === undefined ? undefined : fromEntryCursor(after),
    }
    const { batches, next } = failing(this.location, () => this.#reader.read(request))
    return { batches: unpack(batches), next: next && toEntryCursor(next) }
  }

  async delegationsOf(batches: readonly MessageBatch[]): Promise<EncodedDelegations> {
    return failing(this.location, () => this.#reader.delegations(batches.flatMap(delegationPlaceOf)))
  }

  /**
   * Copies all of it into a new file, for this user only, as it is at one moment; writers go on, but their log of changes grows until the
   * copy is done. The copy is checked and stands by itself. Returns its bytes. Throws FILE_EXISTS, and what the disk does not let.
   */
  async copyTo(path: string): Promise<number> {
    createNew(path)
    try {
      await this.#atOneMoment(() => this.#database.backup(path))
      return failing(path, () => checkedBytes(path))
    } catch (error) {
      rmSync(path, { force: true })
      throw error
    }
  }

  async close(): Promise<void> {
    this.#database.close()
  }

  /** Outside of a transaction, a copy would begin anew with each commit of a writer, and never end beside a busy one. */
  async #atOneMoment<T>(work: () => Promise<T>): Promise<T> {
    this.#database.exec('BEGIN')
    try {
      // The transaction begins to read here.
      this.#database.prepare('SELECT count(*) FROM sqlite_schema').get()
      return await work()
    } finally {
      if (this.#database.inTransaction) this.#database.exec('COMMIT')
    }
  }
}

function createNew(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
    chmodSync(path, 0o600)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') throw storageError('FILE_EXISTS', path)
    const { code, detail } = toFailure(cause, path)
    throw storageError(code, detail, { cause })
  }
}

/** Without the log of changes that a store in use has beside it. */
function checkedBytes(path: string): number {
  const copy = new Database(path, { fileMustExist: true })
  try {
    copy.pragma('journal_mode = DELETE')
    const found = copy.pragma('integrity_check', { simple: true })
    if (found !== 'ok') throw storageError('STORE_CORRUPT', `${path}: ${String(found)}`)
    return (
      Number(copy.pragma('page_count', { simple: true })) * Number(copy.pragma('page_size', { simple: true }))
    )
  } finally {
    copy.close()
  }
}

function failing<T>(path: string, run: () => T): T {
  try {
    return run()
  } catch (cause) {
    const { code, detail } = toFailure(cause, path)
    throw storageError(code, detail, { cause })
  }
}
