import type { NodeId } from '@runnel/protocol'
import type { MqttLimits } from '../limits.ts'
import { QueueShares, type OutboxTotals } from './queue-shares.ts'
import {
  Session,
  type KeptSession,
  type SessionJournal,
  type SessionKey,
  type SessionLink,
  type Will,
} from './session.ts'

export interface SessionsModules {
  readonly totals: OutboxTotals
  /** A text that nobody else knows. */
  readonly newOrigin: () => string
  readonly effects: {
    /** It is forgotten: nothing more is subscribed to for it. */
    ended(session: Session): void
    publishWill(session: Session, will: Will): void
    /** A client is there, or there no longer; then the session waits for so long. */
    changed(session: Session, waitsMs: number | undefined): void
  }
}

/** What a client says when it connects. */
export interface SessionRequest {
  readonly cleanStart: boolean
  readonly expiryS: number
  readonly receiveMaximum: number
  readonly will: Will | undefined
  readonly link: SessionLink
  /** Whose streams topics without an owner are. */
  readonly own: NodeId
}

interface Away {
  readonly endsMs: number
  /** When its will is published; undefined when there is none. */
  willMs: number | undefined
  /** It waits only because its gateway was started again: it does not count as one that its client left. */
  readonly isReturning: boolean
}

/** The sessions of all clients: those with a connection, and those that wait for one. */
export class Sessions {
  readonly #limits: MqttLimits
  readonly #modules: SessionsModules
  readonly #shares: QueueShares
  readonly #sessions = new Map<string, Session>()
  /** In the order in which their connections ended. */
  readonly #away = new Map<Session, Away>()
  /** How many were restored whose clients were there. */
  #returning = 0

  constructor(limits: MqttLimits, modules: SessionsModules) {
    this.#limits = limits
    this.#modules = modules
    this.#shares = new QueueShares(limits, modules.totals)
  }

  get size(): number {
    return this.#sessions.size
  }

  get away(): number {
    return this.#away.size
  }

  /** The session of a client that connects; one that is connected already loses its connection. */
  connect(key: SessionKey, request: SessionRequest): { session: Session; isPresent: boolean } {
    const id = idOf(key)
    const known = this.#sessions.get(id)
    // One that does not outlive its connection ends with that, which is taken over.
    const isOver = request.cleanStart || known?.expiryS === 0
    if (known?.link !== undefined) {
      known.link.takeOver()
      if (known.will?.delayS === 0 || isOver) this.#publishWill(known)
      known.detach()
    }
    const away = known && this.#away.get(known)
    if (known !== undefined) this.#away.delete(known)
    if (known !== undefined && isOver) {
      // It ends with that, and so its will is due.
      if (away?.willMs !== undefined) this.#publishWill(known)
      this.#forget(id, known)
    }
    const present = this.#sessions.get(id)
    const session =
      present ?? new Session(key, request.own, this.#modules.newOrigin(), this.#limits, this.#shares)
    this.#sessions.set(id, session)
    session.expiryS = request.expiryS
    session.will = request.will
    session.attach(request.link, request.receiveMaximum)
    this.#modules.effects.changed(session, undefined)
    return { session, isPresent: present !== undefined }
  }

  /** Its connection ended; with DISCONNECT where it does not leave a will. */
  disconnected(session: Session, isGraceful: boolean, nowMs: number): void {
    session.detach()
    if (this.#sessions.get(idOf(session.key)) !== session) return
    if (isGraceful) session.will = undefined
    const endsMs = nowMs + 1000 * Math.min(session.expiryS, this.#limits.maxSessionExpiryS)
    this.#wait(session, endsMs, false, nowMs)
    this.#modules.effects.changed(session, endsMs - nowMs)
    this.#advance(session, nowMs)
    if (this.#away.size > this.#limits.maxAwaySessions) this.#limit(session.key.account)
  }

  has(session: Session): boolean {
    return this.#sessions.get(idOf(session.key)) === session
  }

  /**
   * A session that another process left, and that waits for its client; `limitAway` follows. The delay of its will begins anew: its client could not
   * come back meanwhile. One whose time is over ends, with its will, at the next tick.
   */
  restore(kept: KeptSession, journal: SessionJournal, nowMs: number): Session {
    const session = new Session(kept.key, kept.own, kept.origin, this.#limits, this.#shares)
    this.#sessions.set(idOf(kept.key), session)
    session.restore(kept, journal)
    const isReturning = kept.wasThere && this.#returning < this.#limits.maxReturningSessions
    if (isReturning) this.#returning++
    this.#wait(session, nowMs + kept.leftMs, isReturning, nowMs)
    return session
  }

  /** Ends those that are too many after sessions were restored. */
  limitAway(): void {
    const { maxAwaySessions, maxTotalAwaySessions } = this.#limits
    const counted = this.#counted()
    const byAccount = Map.groupBy(counted, ([{ key }]) => key.account)
    for (const [account, { length }] of byAccount)
      for (let i = maxAwaySessions; i < length; i++) this.#limit(account)
    const [any] = byAccount.keys()
    if (any === undefined) return
    for (let i = counted.length; i > maxTotalAwaySessions; i--) this.#limit(any)
  }

  /** To be called every second: publishes wills whose delay is over, and ends sessions. */
  tick(nowMs: number): void {
    for (const session of [...this.#away.keys()]) this.#advance(session, nowMs)
  }

  /** Ends those of an account, without their wills. */
  endAccount(account: string): void {
    for (const [id, session] of [...this.#sessions]) {
      if (session.key.account !== account) continue
      this.#away.delete(session)
      this.#forget(id, session)
    }
  }

  /** Ends all that are left, without their wills: the gateway goes, not they. */
  close(): void {
    for (const [id, session] of [...this.#sessions]) this.#forget(id, session)
    this.#away.clear()
  }

  #advance(session: Session, nowMs: number): void {
    const away = this.#away.get(session)
    if (away === undefined) return
    if (away.willMs !== undefined && away.willMs <= nowMs) {
      away.willMs = undefined
      this.#publishWill(session)
    }
    if (away.endsMs > nowMs) return
    this.#away.delete(session)
    this.#forget(idOf(session.key), session)
  }

  #wait(session: Session, endsMs: number, isReturning: boolean, nowMs: number): void {
    const willMs = session.will && Math.min(endsMs, nowMs + 1000 * session.will.delayS)
    this.#away.set(session, { endsMs, willMs, isReturning })
  }

  #publishWill(session: Session): void {
    const { will } = session
    session.will = undefined
    if (will === undefined) return
    session.journal?.touched()
    this.#modules.effects.publishWill(session, will)
  }

  #counted(): (readonly [Session, Away])[] {
    return [...this.#away].filter(([, { isReturning }]) => !isReturning)
  }

  #limit(account: string): void {
    const { maxAwaySessions, maxTotalAwaySessions } = this.#limits
    const counted = this.#counted()
    const byAccount = Map.groupBy(counted, ([{ key }]) => key.account)
    const own = byAccount.get(account) ?? []
    if (own.length > maxAwaySessions) return this.#endSoonest(own)
    if (counted.length <= maxTotalAwaySessions) return
    this.#endSoonest([...byAccount.values()].reduce((most, of) => (of.length > most.length ? of : most), own))
  }

  #endSoonest(among: readonly (readonly [Session, Away])[]): void {
    const [session] = among.reduce((soonest, other) =>
      other[1].endsMs < soonest[1].endsMs ? other : soonest,
    )
    const away = this.#away.get(session)
    this.#away.delete(session)
    if (away?.willMs !== undefined) this.#publishWill(session)
    this.#forget(idOf(session.key), session)
  }

  #forget(id: string, session: Session): void {
    this.#sessions.delete(id)
    session.outbox.clear()
    this.#modules.effects.ended(session)
    session.subscriptions.clear()
  }
}

function idOf({ account, clientId }: SessionKey): string {
  return JSON.stringify([account, clientId])
}
