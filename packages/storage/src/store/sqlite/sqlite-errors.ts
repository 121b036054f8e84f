import Database from 'better-sqlite3'
import { isRunnelError } from '@runnel/protocol'

export type StoreErrorCode =
  | 'STORE_UNAVAILABLE'
  | 'STORE_FULL'
  | 'STORE_READ_ONLY'
  | 'STORE_CORRUPT'
  | 'STORE_VERSION'
  | 'TOO_COSTLY'
  | 'INTERNAL'

/** An error as it travels between threads. */
export interface StoreFailure {
  readonly code: StoreErrorCode
  readonly detail: string
}

/** Found out by the store itself, not by SQLite. */
export class StoreError extends Error {
  readonly code: StoreErrorCode

  constructor(code: StoreErrorCode, detail: string) {
    super(detail)
    this.code = code
  }
}

/** The primary result code of SQLite (https://www.sqlite.org/rescode.html), or the code of a failed system call. */
const codes: readonly (readonly [RegExp, StoreErrorCode])[] = [
  [/^(SQLITE_FULL|SQLITE_IOERR_SHMSIZE|ENOSPC|EDQUOT)/, 'STORE_FULL'],
  [/^(SQLITE_READONLY|EROFS|EACCES|EPERM)/, 'STORE_READ_ONLY'],
  [/^(SQLITE_CORRUPT|SQLITE_NOTADB)/, 'STORE_CORRUPT'],
  [/^(SQLITE_|E[A-Z]+$)/, 'STORE_UNAVAILABLE'],
]

/** What went wrong with the database at `path`. */
export function toFailure(error: unknown, path: string): StoreFailure {
  if (error instanceof StoreError) return { code: error.code, detail: error.message }
  if (isRunnelError(error, 'TOO_COSTLY')) return { code: 'TOO_COSTLY', detail: '' }
  const detail = `${path}: ${error instanceof Error ? error.message : String(error)}`
  const raw = error instanceof Error && 'code' in error ? String(error.code) : ''
  const known = codes.find(([pattern]) => pattern.test(raw))
  if (known === undefined) return { code: 'INTERNAL', detail }
  return { code: known[1], detail: error instanceof Database.SqliteError ? `${detail} (${raw})` : detail }
}
