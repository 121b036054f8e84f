import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import Database from 'better-sqlite3'
import type { MessageRef } from '@runnel/protocol'
import { nodeError } from '../../../errors.ts'
import type { Held, Outgoing } from '../core/outbox.ts'
import type { KeptSession, Will } from '../core/session.ts'

/** Marks the file in its header: "RunM". */
const applicationId = 0x52756e4d
/** A log that grew larger is cut once it has been written back. */
const maxWalBytes = 16 * 1024 * 1024

/** What makes the file one of the version that is its place here, from 1, out of the one before. */
const steps = [
  `
  CREATE TABLE session (
    id INTEGER PRIMARY KEY,
    account TEXT NOT NULL,
    client TEXT NOT NULL,
    own TEXT NOT NULL,
    origin TEXT NOT NULL,
    expiry_s INTEGER NOT NULL,
    ends_ms INTEGER,
    subscriptions TEXT NOT NULL,
    received TEXT NOT NULL,
    UNIQUE (account, client)
  ) STRICT;
  CREATE TABLE message (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL,
    message_id INTEGER,
    content BLOB
  ) STRICT;
  CREATE INDEX message_session ON message (session);
  CREATE TABLE feed (id TEXT PRIMARY KEY, heard_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE place (
    feed TEXT NOT NULL,
    chain TEXT NOT NULL,
    time INTEGER NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (feed, chain)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE mark (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`,
  `
  ALTER TABLE session ADD COLUMN was_there INTEGER NOT NULL DEFAULT 0;
  UPDATE session SET was_there = ends_ms IS NULL;
  CREATE TABLE will (session INTEGER PRIMARY KEY, content BLOB NOT NULL) STRICT;
`,
]

/** A session as it is in the file. */
export interface SessionRow extends Omit<KeptSession, 'leftMs' | 'held'> {
  readonly row: number
  /** Unix milliseconds; undefined while its client is there. */
  readonly endsMs: number | undefined
  readonly held: readonly { readonly row: number; readonly held: Held }[]
}

export interface FeedRow {
  readonly heardMs: number
  readonly places: ReadonlyMap<string, MessageRef>
}

export interface FileContent {
  /** When it was last said that the process is there, Unix milliseconds. */
  readonly aliveMs: number | undefined
  readonly feeds: ReadonlyMap<string, FeedRow>
  readonly sessions: readonly SessionRow[]
}

/**
 * A database of sessions, messages that wait in them, and how far their feeds came. What is written survives the end of the process,
 * however it ends; a machine that loses power may lose the last of it, never half of a transaction
 * (https://www.sqlite.org/pragma.html#pragma_synchronous).
 */
export class SessionFile {
  readonly #database: Database.Database
  readonly #statements = new Map<string, Database.Statement>()

  private constructor(database: Database.Database) {
    this.#database = database
  }

  /** In this directory, which is made, for this user only. Throws MQTT_SESSIONS_UNAVAILABLE. */
  static open(directory: string): SessionFile {
    const path = join(directory, 'sessions.sqlite')
    let database: Database.Database | undefined
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 })
      // SQLite gives its other files the mode of this one.
      closeSync(openSync(path, 'a', 0o600))
      chmodSync(path, 0o600)
      database = new Database(path, { timeout: 0 })
      // One process: the lock ends with it.
      database.pragma('locking_mode = EXCLUSIVE')
      database.pragma('journal_mode = WAL')
      database.pragma('synchronous = NORMAL')
      database.pragma(`journal_size_limit = ${maxWalBytes}`)
      prepare(database)
      return new SessionFile(database)
    } catch (cause) {
      database?.close()
      throw unavailable(path, cause)
    }
  }

  /** All that a process before this one left. Throws MQTT_SESSIONS_UNAVAILABLE where it is damaged. */
  left(): FileContent {
    try {
      return { aliveMs: this.aliveMs, feeds: this.feeds(), sessions: [...this.sessions()] }
    } catch (cause) {
      throw unavailable(this.#database.name, cause)
    }
  }

  /** All or nothing of what is written meanwhile. */
  inOne(write: () => void): void {
    this.#database.transaction(write).immediate()
  }

  get aliveMs(): number | undefined {
    return this.#run('SELECT value FROM mark WHERE name = ?').pluck().get('alive') as number | undefined
  }

  /** The process is there now, by the wall clock. */
  alive(nowMs: number): void {
    this.#run('INSERT OR REPLACE INTO mark VALUES (?, ?)').run('alive', nowMs)
  }

  *sessions(): Generator<SessionRow> {
    for (const found of this.#run('SELECT * FROM session').all() as SessionColumns[])
      yield {
        ...{ row: found.id, own: found.own, origin: found.origin, expiryS: found.expiry_s },
        key: { account: found.account, clientId: found.client },
        endsMs: found.ends_ms ?? undefined,
        subscriptions: JSON.parse(found.subscriptions) as SessionRow['subscriptions'],
        received: JSON.parse(found.received) as number[],
        wasThere: found.was_there === 1,
        will: this.#will(found.id),
        held: this.#messages(found.id),
      }
  }

  /** Returns its row: a new one where there is none yet. */
  saveSession(session: Omit<SessionRow, 'row' | 'held' | 'will'>, row: number | undefined): number {
    const { key, own, origin, expiryS, endsMs, wasThere, subscriptions, received } = session
    const columns = [key.account, key.clientId, own, origin, expiryS, endsMs ?? null]
    const texts = [JSON.stringify(subscriptions), JSON.stringify(received)]
    const insert = 'INSERT OR REPLACE INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'
    const { lastInsertRowid } = this.#run(insert).run(row ?? null, ...columns, ...texts, wasThere ? 1 : 0)
    return row ?? Number(lastInsertRowid)
  }

  saveWill(session: number, will: Will | undefined): void {
    if (will === undefined) this.#run('DELETE FROM will WHERE session = ?').run(session)
    else this.#run('INSERT OR REPLACE INTO will VALUES (?, ?)').run(session, serialize(will))
  }

  removeSession(row: number): void {
    this.#run('DELETE FROM message WHERE session = ?').run(row)
    this.#run('DELETE FROM will WHERE session = ?').run(row)
    this.#run('DELETE FROM session WHERE id = ?').run(row)
  }

  addMessage(session: number, { message, messageId }: Held): number {
    const content = message === undefined ? null : serialize(message)
    const insert = 'INSERT INTO message (session, message_id, content) VALUES (?, ?, ?)'
    return Number(this.#run(insert).run(session, messageId ?? null, content).lastInsertRowid)
  }

  changeMessage(row: number, { message, messageId }: Held): void {
    const update = 'UPDATE message SET message_id = ?, content = iif(?, content, NULL) WHERE id = ?'
    this.#run(update).run(messageId ?? null, message === undefined ? 0 : 1, row)
  }

  removeMessage(row: number): void {
    this.#run('DELETE FROM message WHERE id = ?').run(row)
  }

  feeds(): Map<string, FeedRow> {
    const rows = this.#run('SELECT * FROM feed').all() as { id: string; heard_ms: number }[]
    return new Map(rows.map(({ id, heard_ms }) => [id, { heardMs: heard_ms, places: this.#places(id) }]))
  }

  saveFeed(id: string, heardMs: number, places: Iterable<readonly [chain: string, MessageRef]>): void {
    this.#run('INSERT OR REPLACE INTO feed VALUES (?, ?)').run(id, heardMs)
    const save = this.#run('INSERT OR REPLACE INTO place VALUES (?, ?, ?, ?)')
    for (const [chain, { timestamp, sequenceNumber }] of places)
      save.run(id, chain, timestamp, sequenceNumber)
  }

  /** Forgets places of chains that were heard last before this time, and but for so many the oldest. */
  prunePlaces(id: string, beforeMs: number, most: number): void {
    this.#run('DELETE FROM place WHERE feed = ? AND time < ?').run(id, beforeMs)
    const rest = 'SELECT chain FROM place WHERE feed = ? ORDER BY time DESC LIMIT -1 OFFSET ?'
    this.#run(`DELETE FROM place WHERE feed = ? AND chain IN (${rest})`).run(id, id, most)
  }

  removeFeed(id: string): void {
    this.#run('DELETE FROM place WHERE feed = ?').run(id)
    this.#run('DELETE FROM feed WHERE id = ?').run(id)
  }

  close(): void {
    this.#database.close()
  }

  #messages(session: number): SessionRow['held'] {
    const rows = this.#run('SELECT * FROM message WHERE session = ? ORDER BY id').all(session)
    return (rows as MessageColumns[]).map(({ id, message_id, content }) => {
      const message = content === null ? undefined : (deserialize(content) as Outgoing)
      return { row: id, held: { message, messageId: message_id ?? undefined } }
    })
  }

  #will(session: number): Will | undefined {
    const content = this.#run('SELECT content FROM will WHERE session = ?').pluck().get(session)
    return content === undefined ? undefined : (deserialize(content as Buffer) as Will)
  }

  #places(feed: string): ReadonlyMap<string, MessageRef> {
    const rows = this.#run('SELECT * FROM place WHERE feed = ? ORDER BY time').all(feed)
    return new Map(
      (rows as { chain: string; time: number; number: number }[]).map(({ chain, time, number }) => [
        chain,
        { timestamp: time, sequenceNumber: number },
      ]),
    )
  }

  #run(sql: string): Database.Statement {
    let statement = this.#statements.get(sql)
    if (statement === undefined) this.#statements.set(sql, (statement = this.#database.prepare(sql)))
    return statement
  }
}

interface SessionColumns {
  readonly id: number
  readonly account: string
  readonly client: string
  readonly own: SessionRow['own']
  readonly origin: string
  readonly expiry_s: number
  readonly ends_ms: number | null
  readonly subscriptions: string
  readonly received: string
  readonly was_there: number
}

interface MessageColumns {
  readonly id: number
  readonly message_id: number | null
  readonly content: Buffer | null
}

function unavailable(path: string, cause: unknown): Error {
  const detail = `${path}: ${cause instanceof Error ? cause.message : String(cause)}`
  return nodeError('MQTT_SESSIONS_UNAVAILABLE', detail, { cause })
}

function prepare(database: Database.Database): void {
  database
    .transaction(() => {
      const found = Number(database.pragma('user_version', { simple: true }))
      const isOurs = database.pragma('application_id', { simple: true }) === applicationId
      const isEmpty = database.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() === 0
      if (!isOurs && (!isEmpty || found !== 0)) throw new Error('it is another file')
      if (found > steps.length) throw new Error(`it is of version ${found}, this build knows ${steps.length}`)
      for (const step of steps.slice(found)) database.exec(step)
      database.pragma(`application_id = ${applicationId}`)
      database.pragma(`user_version = ${steps.length}`)
    })
    .immediate()
}
