import { storageError } from '../../errors.ts'
import type { PageCursor } from '../message-store.ts'
import type { EntryPlace } from './entries.ts'

export function toEntryCursor({
  firstTime,
  firstNumber,
  lastTime,
  lastNumber,
  chain,
}: EntryPlace): PageCursor {
  return [firstTime, firstNumber, lastTime, lastNumber, chain].join('.')
}

/** Cursors come back from other machines. Throws STORE_CURSOR_INVALID. */
export function fromEntryCursor(cursor: PageCursor): EntryPlace {
  const match = /^(\d{1,15})\.(\d{1,10})\.(\d{1,15})\.(\d{1,10})\.(\d{1,15})$/.exec(cursor)
  if (match === null) throw storageError('STORE_CURSOR_INVALID', JSON.stringify(cursor.slice(0, 60)))
  const [firstTime = 0, firstNumber = 0, lastTime = 0, lastNumber = 0, chain = 0] = match.slice(1).map(Number)
  return { firstTime, firstNumber, lastTime, lastNumber, chain }
}
