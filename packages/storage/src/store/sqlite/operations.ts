import type Database from 'better-sqlite3'
import type { MessageChain, MessageRef, NodeId } from '@runnel/protocol'
import type { StoredCard } from '../stored-cards.ts'
import type { DelegationPlace } from '../stored-delegations.ts'
import { BatchReader, type Filter, type ReadRequest, type ValuesRequest } from './batch-reader.ts'
import { BatchWriter, type AppendRequest, type PruneRequest } from './batch-writer.ts'
import { bytesOf, emptyLog, lockForWriting, logOf, openForReading, openForWriting } from './database.ts'

/** What every thread does on request; the first request opens the database. */
export interface Operations {
  readonly open: (argument: undefined) => void
  readonly close: (argument: undefined) => void
}

/** What the writing thread does. */
export function writerOperations(path: string) {
  let opened: ReturnType<typeof open> | undefined
  const open = () => {
    const lock = lockForWriting(path)
    try {
      const database = openForWriting(path)
      return { lock, database, writer: new BatchWriter(database), log: logOf(path) }
    } catch (error) {
      lock.close()
      throw error
    }
  }
  const store = () => (opened ??= open())
  const writer = () => store().writer
  return {
    open: (_: undefined) => void writer(),
    append: (request: AppendRequest) => {
      const { log, writer } = store()
      const contradictions = writer.append(request)
      return { contradictions, logBytes: bytesOf(log) }
    },
    /** Gives the bytes that are left of it. */
    emptyLog: (_: undefined) => {
      const { log, database } = store()
      emptyLog(database)
      return bytesOf(log)
    },
    prune: (request: PruneRequest) => writer().prune(request),
    setMark: (mark: { readonly name: string; readonly value: string }) => writer().setMark(mark),
    putCard: (card: StoredCard) => writer().cards.put(card),
    vouchFor: (userId: NodeId) => writer().cards.vouchFor(userId),
    pruneCards: (maxCards: number) => writer().cards.prune(maxCards),
    close: (_: undefined) => {
      opened?.database.close()
      opened?.lock.close()
      opened = undefined
    },
  }
}

/** What a reading thread does. */
export function readerOperations(path: string) {
  let opened: { readonly database: Database.Database; readonly reader: BatchReader } | undefined
  const open = () => {
    const database = openForReading(path)
    return { database, reader: new BatchReader(database) }
  }
  const reader = () => (opened ??= open()).reader
  return {
    open: (_: undefined) => void reader(),
    read: (request: ReadRequest) => reader().read(request),
    values: (request: ValuesRequest) => reader().values(request),
    last: (request: Filter & { readonly count: number }) => reader().last(request),
    has: (request: { readonly chain: MessageChain; readonly place: MessageRef }) => reader().has(request),
    delegations: (places: readonly DelegationPlace[]) => reader().delegations(places),
    usage: (_: undefined) => reader().usage(),
    mark: (name: string) => reader().mark(name),
    cards: (userIds: readonly NodeId[]) => reader().cards.of(userIds),
    cardCount: (_: undefined) => reader().cards.count(),
    close: (_: undefined) => {
      opened?.database.close()
      opened = undefined
    },
  }
}
