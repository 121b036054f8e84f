import type { Cancel, Clock } from '@runnel/protocol'
import type { Logger } from '../../../logger.ts'
import type { Held } from '../core/outbox.ts'
import type { KeptSession, Session, SessionJournal, Will } from '../core/session.ts'
import type { Counters } from '../counters.ts'
import type { MqttLimits } from '../limits.ts'
import { userFeedIdOf } from './feed-ids.ts'
import { FeedPlaces } from './feed-places.ts'
import type { FeedRow, SessionFile } from './session-file.ts'

export interface SessionKeeperModules {
  readonly file: SessionFile
  readonly clock: Clock
  readonly logger: Pick<Logger, 'error'>
  readonly counters: Pick<Counters, 'sessionWritesFailed'>
}

/** A session that a process before this one left. */
export interface FoundSession extends KeptSession {
  /** To be given to it. */
  readonly journal: SessionJournal
  /** It is nobody's any more. */
  drop(): void
}

/** What has changed of a session since it was written. */
interface Kept extends SessionJournal {
  session: Session | undefined
  row: number | undefined
  /** When it ends, by the wall clock; undefined while its client is there. */
  endsMs: number | undefined
  /** Its client is there, or was when the process before this one ended and has not been since. */
  isThere: boolean
  /** As it is written. */
  will: Will | undefined
  isTouched: boolean
  readonly held: Set<Held>
  readonly settled: Set<number>
}

/** How often it is said that sessions are not written. */
const sayAgainMs = 60_000

type KeeperLimits = Pick<MqttLimits, 'sessionFlushMs' | 'sessionAliveMs' | 'maxCatchUpMs' | 'maxFeedChains'>

/**
 * Keeps sessions in a file, so that they outlast the process. What is on its way to clients that acknowledge at once is never written:
 * changes are noted, and written together a little later. What a client is told to rely on is written before.
 */
export class SessionKeeper {
  readonly #limits: KeeperLimits
  readonly #modules: SessionKeeperModules
  readonly #kept = new Map<Session, Kept>()
  readonly #dirty = new Set<Kept>()
  readonly #rows = new WeakMap<Held, number>()
  readonly #ended = new Set<number>()
  readonly #feeds = new Map<string, FeedPlaces>()
  /** What a process before this one had, until the feed is opened. */
  #before: ReadonlyMap<string, FeedRow> = new Map()
  readonly #closedFeeds = new Set<string>()
  /** Those that the file has by another id. */
  readonly #renamedFeeds = new Map<string, FeedRow>()
  /** Those that the file has: after a restart they begin with what was missed. */
  readonly #writtenFeeds = new Set<string>()
  #cancelFlush: Cancel | undefined
  #cancelAlive: Cancel = () => {}
  #isClosed = false
  /** The last time it was tried, something could not be written. */
  #isFailing = false
  #saidMs = -Infinity

  constructor(limits: KeeperLimits, modules: SessionKeeperModules) {
    this.#limits = limits
    this.#modules = modules
  }

  /** Sessions that were left here and have not ended, for `Sessions.restore`. Throws MQTT_SESSIONS_UNAVAILABLE. */
  start(): readonly FoundSession[] {
    const { file, clock } = this.#modules
    const nowMs = clock.now()
    const { aliveMs = nowMs, feeds, sessions } = file.left()
    this.#before = feeds
    const found = sessions.map(({ row, endsMs, held, ...session }): FoundSession => {
      const writtenMs = endsMs ?? aliveMs + 1000 * session.expiryS
      // It waits no longer than its client asked for, where the clock was set back meanwhile.
      const ends = Math.min(writtenMs, nowMs + 1000 * session.expiryS)
      const kept = this.#newKept(row, ends)
      Object.assign(kept, { isThere: session.wasThere, will: session.will, isTouched: ends < writtenMs })
      for (const one of held) this.#rows.set(one.held, one.row)
      return {
        ...session,
        held: held.map((one) => one.held),
        leftMs: ends - nowMs,
        journal: kept,
        drop: () => this.#drop(kept),
      }
    })
    this.#alive()
    return found
  }

  /** The session goes on with a journal of `start`. */
  restored(session: Session): void {
    const kept = session.journal as Kept
    kept.session = session
    this.#kept.set(session, kept)
    // It ends at the same time, however often a node is started again.
    if (kept.isThere || kept.isTouched) kept.touched()
  }

  /** A client is there, or there no longer: its session is kept if it outlives the connection. */
  changed(session: Session, waitsMs: number | undefined): void {
    if (this.#isClosed) return
    let kept = this.#kept.get(session)
    if (session.expiryS === 0) {
      if (kept !== undefined) this.ended(session)
      return
    }
    if (kept === undefined) {
      kept = this.#newKept(undefined, undefined)
      kept.session = session
      this.#kept.set(session, kept)
      session.keepIn(kept)
    }
    kept.isThere = waitsMs === undefined
    kept.endsMs = waitsMs === undefined ? undefined : this.#modules.clock.now() + waitsMs
    kept.touched()
  }

  ended(session: Session): void {
    const kept = this.#kept.get(session)
    if (kept === undefined || this.#isClosed) return
    this.#kept.delete(session)
    session.keepIn(undefined)
    this.#drop(kept)
  }

  /** Whether the process before this one had it. */
  wasKept(feedId: string): boolean {
    return this.#before.has(feedId)
  }

  /**
   * Only these are of sessions that are back. One that the file does not have goes on with what its user had, as whom a key acts for may have
   * another file by now; and earlier versions did not tell them apart. Of several it is the one that came least far.
   */
  goOnWith(ids: ReadonlySet<string>): void {
    const found = this.#before
    const leastLast = [...found].toSorted(([, a], [, b]) => b.heardMs - a.heardMs)
    const ofUsers = new Map(leastLast.map(([id, row]) => [userFeedIdOf(id), row]))
    const before = new Map<string, FeedRow>()
    for (const id of ids) {
      const row = found.get(id) ?? ofUsers.get(userFeedIdOf(id))
      if (row === undefined) continue
      before.set(id, row)
      if (!found.has(id)) this.#renamedFeeds.set(id, row)
    }
    for (const id of found.keys()) if (!before.has(id)) this.#closedFeeds.add(id)
    this.#before = before
    this.#later()
  }

  /** How far the sessions of a feed are, which is kept from now on. */
  feed(id: string): FeedPlaces {
    const known = this.#feeds.get(id)
    if (known !== undefined) return known
    const nowMs = this.#modules.clock.now()
    const feed = new FeedPlaces(this.#before.get(id), { nowMs, onChanged: () => this.#later() })
    this.#feeds.set(id, feed)
    this.#closedFeeds.delete(id)
    this.#later()
    return feed
  }

  /** No session has it any more. */
  feedClosed(id: string): void {
    if (this.#isClosed || !this.#feeds.delete(id)) return
    this.#before = new Map([...this.#before].filter(([other]) => other !== id))
    this.#closedFeeds.add(id)
    this.#writtenFeeds.delete(id)
    this.#later()
  }

  /** Writes what has changed. What cannot be written now is tried again with the next change, and now and then. */
  flush(): void {
    this.#cancelFlush?.()
    this.#cancelFlush = undefined
    if (this.#isClosed) return
    const written: (() => void)[] = []
    try {
      this.#modules.file.inOne(() => this.#write(written))
    } catch (err) {
      this.#isFailing = true
      this.#modules.counters.sessionWritesFailed++
      this.#sayFailed(err)
      return
    }
    this.#isFailing = false
    for (const done of written) done()
  }

  /** Writes what is left; what becomes of sessions then changes nothing. */
  close(): void {
    if (this.#isClosed) return
    this.#cancelAlive()
    this.flush()
    this.#isClosed = true
    this.#modules.file.close()
  }

  #write(written: (() => void)[]): void {
    const { file, clock } = this.#modules
    for (const row of this.#ended) file.removeSession(row)
    for (const [id, { heardMs, places }] of this.#renamedFeeds) file.saveFeed(id, heardMs, places)
    for (const id of this.#closedFeeds) file.removeFeed(id)
    for (const kept of this.#dirty) this.#writeOne(kept, written)
    const nowMs = clock.now()
    for (const [id, feed] of this.#feeds) {
      if (feed.changed.size === 0 && this.#writtenFeeds.has(id)) continue
      feed.heard(nowMs)
      file.saveFeed(id, feed.heardMs, feed.changed)
      written.push(() => {
        feed.changed.clear()
        this.#writtenFeeds.add(id)
      })
    }
    written.push(() => {
      for (const all of [this.#ended, this.#closedFeeds, this.#renamedFeeds, this.#dirty]) all.clear()
    })
  }

  #writeOne(kept: Kept, written: (() => void)[]): void {
    const { file } = this.#modules
    const { session, endsMs, isThere } = kept
    if (session === undefined) return
    let { row } = kept
    if (row === undefined || kept.isTouched) {
      const { key, own, origin, expiryS } = session
      const subscriptions = [...session.subscriptions.values()].map(({ name, options, sinceMs }) => {
        return { name, options, sinceMs }
      })
      const columns = {
        key,
        own,
        origin,
        expiryS,
        endsMs,
        wasThere: isThere,
        received: [...session.received],
      }
      row = file.saveSession({ ...columns, subscriptions }, row)
      const will = keptWillOf(session)
      if (will !== kept.will) file.saveWill(row, will)
      written.push(() => void (kept.will = will))
    }
    const sessionRow = row
    for (const settled of kept.settled) file.removeMessage(settled)
    for (const held of kept.held) {
      const known = this.#rows.get(held)
      const messageRow = known ?? file.addMessage(sessionRow, held)
      if (known === undefined) written.push(() => this.#rows.set(held, messageRow))
      else file.changeMessage(known, held)
    }
    written.push(() => {
      Object.assign(kept, { row: sessionRow, isTouched: false })
      kept.held.clear()
      kept.settled.clear()
    })
  }

  #alive(): void {
    const { file, clock } = this.#modules
    const { sessionAliveMs, maxCatchUpMs, maxFeedChains } = this.#limits
    const nowMs = clock.now()
    try {
      file.inOne(() => {
        file.alive(nowMs)
        for (const [id, feed] of this.#feeds) {
          feed.heard(nowMs)
          file.saveFeed(id, feed.heardMs, [])
          file.prunePlaces(id, feed.heardMs - maxCatchUpMs, maxFeedChains)
        }
      })
    } catch (err) {
      this.#sayFailed(err)
    }
    if (this.#isFailing) this.flush()
    this.#cancelAlive = clock.schedule(sessionAliveMs, () => this.#alive())
  }

  /** Each change tries again: a line for each would fill what is left of the disk. */
  #sayFailed(err: unknown): void {
    const { clock, logger, counters } = this.#modules
    const nowMs = clock.monotonicMs()
    if (nowMs - this.#saidMs < sayAgainMs) return
    this.#saidMs = nowMs
    logger.error(
      { err, failed: counters.sessionWritesFailed },
      'sessions of MQTT clients are not written: they would not outlast the node. They are tried again; free some space if the disk is full',
    )
  }

  #newKept(row: number | undefined, endsMs: number | undefined): Kept {
    const kept: Kept = {
      ...{ session: undefined, row, endsMs, isThere: false, will: undefined, isTouched: false },
      ...{ held: new Set<Held>(), settled: new Set<number>() },
      touched: () => {
        kept.isTouched = true
        this.#changed(kept)
      },
      changed: (held) => {
        kept.held.add(held)
        this.#changed(kept)
      },
      removed: (held) => {
        kept.held.delete(held)
        const known = this.#rows.get(held)
        if (known === undefined) return
        kept.settled.add(known)
        this.#changed(kept)
      },
      flush: () => this.flush(),
    }
    return kept
  }

  #drop(kept: Kept): void {
    this.#dirty.delete(kept)
    if (kept.row !== undefined) this.#ended.add(kept.row)
    this.#later()
  }

  #changed(kept: Kept): void {
    this.#dirty.add(kept)
    this.#later()
  }

  #later(): void {
    if (this.#isClosed) return
    this.#cancelFlush ??= this.#modules.clock.schedule(this.#limits.sessionFlushMs, () => this.flush())
  }
}

/** One without a delay is published when its connection ends, and by nobody after the process: most clients come back at once. */
function keptWillOf({ will }: Session): Will | undefined {
  return will !== undefined && will.delayS > 0 ? will : undefined
}
