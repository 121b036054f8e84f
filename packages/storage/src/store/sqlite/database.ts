import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  realpathSync,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { migrations } from './schema.ts'
import { StoreError } from './sqlite-errors.ts'

/** Marks the file as a message store in its header: "Runl". */
const applicationId = 0x52756e6c

/** How long one connection waits for another that holds the lock. */
const busyTimeoutMs = 5000
/** What a connection keeps of the file in memory. */
const cacheKib = 8 * 1024
/** After so many pages the log is written back into the file; larger means fewer fsyncs, and a larger log. */
const checkpointPages = 4000
/** A log that grew larger is cut once it has been written back. */
export const maxLogBytes = 64 * 1024 * 1024

/**
 * Opens the database that is locked for writing, fills it when it is new, and brings an older one up to date.
 * A transaction is on the disk when its commit returns: WAL with synchronous=FULL (https://www.sqlite.org/wal.html).
 */
export function openForWriting(path: string): Database.Database {
  const database = new Database(path, { timeout: busyTimeoutMs })
  try {
    checkIdentity(database, path)
    database.pragma('journal_mode = WAL')
    database.pragma('synchronous = FULL')
    // On macOS fsync leaves the data in the cache of the disk.
    database.pragma('fullfsync = ON')
    database.pragma('checkpoint_fullfsync = ON')
    database.pragma(`wal_autocheckpoint = ${checkpointPages}`)
    database.pragma(`journal_size_limit = ${maxLogBytes}`)
    database.pragma(`cache_size = -${cacheKib}`)
    migrate(database)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/**
 * One process writes a database: numbers it remembers must not go away under it. The lock is one of the operating
 * system, which ends with the process, however it ends. Returns what holds it.
 */
export function lockForWriting(path: string): Database.Database {
  createPrivately(path)
  const lock = new Database(`${path}.lock`, { timeout: 0 })
  try {
    lock.exec('BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock.close()
    const isHeld = error instanceof Database.SqliteError && error.code === 'SQLITE_BUSY'
    throw isHeld ? new StoreError('STORE_UNAVAILABLE', `${path} is open in another process`) : error
  }
}

/** Where the log of a database is: beside the file itself, whatever links to it. */
export function logOf(path: string): string {
  return `${realpathSync(path)}-wal`
}

/** Bytes of a log; 0 when there is none. */
export function bytesOf(log: string): number {
  return statSync(log, { throwIfNoEntry: false })?.size ?? 0
}

/** Writes the log back and empties it, once nobody reads what is in it; as far as that is so in time. */
export function emptyLog(database: Database.Database): void {
  database.pragma('wal_checkpoint(TRUNCATE)')
}

/** Opens for reading what `openForWriting` has open. */
export function openForReading(path: string): Database.Database {
  const database = new Database(path, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs })
  database.pragma(`cache_size = -${cacheKib}`)
  return database
}

/** Other users must not read messages: SQLite gives its other files the mode of this one. */
function createPrivately(path: string): void {
  const directory = dirname(path)
  if (!existsSync(directory)) {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    chmodSync(directory, 0o700)
    syncDirectory(dirname(directory))
  }
  for (const file of [path, `${path}.lock`]) {
    if (!existsSync(file)) {
      closeSync(openSync(file, 'a', 0o600))
      syncDirectory(directory)
    }
    // SQLite would open it for reading then, and fail later with less to say.
    accessSync(file, constants.W_OK)
  }
}

/** A file whose entry in its directory is not on the disk is lost with all that is in it. Windows cannot, and need not. */
function syncDirectory(path: string): void {
  if (process.platform === 'win32') return
  const directory = openSync(path, 'r')
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}

/** Opens a file that may be of anybody, for reading. Throws STORE_CORRUPT for what is no message store, and STORE_VERSION. */
export function openFile(path: string): Database.Database {
  if (!existsSync(path)) throw new StoreError('STORE_UNAVAILABLE', `there is no ${path}`)
  const database = openForReading(path)
  try {
    checkIdentity(database, path)
    const version = Number(database.pragma('user_version', { simple: true }))
    if (version === migrations.length) return database
    throw version === 0
      ? new StoreError('STORE_CORRUPT', `${path} is no message store`)
      : new StoreError(
          'STORE_VERSION',
          `${path} is of version ${version}; a node that has it as its own brings it up to date`,
        )
  } catch (error) {
    database.close()
    throw error
  }
}

function checkIdentity(database: Database.Database, path: string): void {
  const id = database.pragma('application_id', { simple: true })
  const version = Number(database.pragma('user_version', { simple: true }))
  const objects = database.prepare('SELECT count(*) FROM sqlite_schema').pluck().get()
  if (id !== applicationId && (objects !== 0 || version !== 0)) {
    throw new StoreError('STORE_CORRUPT', `${path} is a database of another program`)
  }
  if (version > migrations.length) {
    throw new StoreError(
      'STORE_VERSION',
      `${path} is of version ${version}, this build knows ${migrations.length}`,
    )
  }
}

function migrate(database: Database.Database): void {
  database
    .transaction(() => {
      const version = Number(database.pragma('user_version', { simple: true }))
      for (const step of migrations.slice(version)) database.exec(step)
      if (version === migrations.length) return
      database.pragma(`application_id = ${applicationId}`)
      database.pragma(`user_version = ${migrations.length}`)
    })
    .immediate()
}
