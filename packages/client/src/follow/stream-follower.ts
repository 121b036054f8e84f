import { backoffMs, mapAtOnce, oneAtATime, type Cancel, type Clock, type StreamId } from '@runnel/protocol'
import type { RegistryChange } from '../registry/ports.ts'
import type { ClientStatus } from '../status.ts'
import { matches, type StreamPattern } from './stream-pattern.ts'
import { maxAtOnce, survey, type LeftOut, type Look, type Survey, type SurveyedClient } from './survey.ts'

/** Timers of JavaScript count no further, in milliseconds. */
const timerLimit = 2 ** 31 - 1

/** How a stream that is followed does. */
export interface FollowedStream {
  readonly streamId: StreamId
  /**
   * `denied`: the user may not read it; `missing`: there is none (yet); `failed`: it could not be read or joined, which is tried again.
   */
  readonly state: 'joined' | 'denied' | 'missing' | 'failed'
  /** Partitions that are joined. */
  readonly partitions: number
}

/** A stream does otherwise than before. */
export interface FollowChange {
  readonly streamId: StreamId
  /** Undefined: it was not among those that are meant. */
  readonly was: FollowedStream | undefined
  /** Undefined: it is no longer among those that are meant. */
  readonly now: FollowedStream | undefined
  /** Why it failed. */
  readonly error?: unknown
}

export interface StreamFollowerOptions {
  readonly patterns: readonly StreamPattern[]
  /** Streams followed; the newest are left out. */
  readonly maxStreams: number
  /** Streams looked at, also those that may not be read. */
  readonly maxLooks: number
  /** Stream parts followed. */
  readonly maxParts: number
  /** The first pause, in milliseconds, before what failed is tried again; it doubles. */
  readonly minBackoffMs: number
  readonly maxBackoffMs: number
}

/** Who takes part in the streams, and hears of them. */
interface StreamFollowerEvents {
  /** How many partitions of each stream it takes part in. */
  held(): ReadonlyMap<StreamId, number>
  /** To take part in so many partitions, from 0; it may hold some already, or more. A rejection is tried again. */
  enter(streamId: StreamId, partitions: number): Promise<void>
  leave(streamId: StreamId): void
  changed(change: FollowChange): void
  /** More, or less, is left out than before. */
  leftOut(leftOut: LeftOut): void
  /** Something failed, and is tried again; said once, until all works. */
  failing(error: unknown): void
}

/** What tells of the registry. */
export interface FollowingClient extends SurveyedClient {
  status(): AsyncIterableIterator<ClientStatus, undefined>
}

export interface StreamFollowerModules {
  readonly client: FollowingClient
  readonly clock: Pick<Clock, 'now' | 'schedule'>
  readonly events: StreamFollowerEvents
}

/**
 * Follows in the registry which of the streams that are meant the user may read: those that are created or deleted later, and
 * permissions that are given, taken or end, count. What fails with one stream keeps it from no other.
 */
export class StreamFollower {
  readonly #options: StreamFollowerOptions
  readonly #modules: StreamFollowerModules
  #followed: ReadonlyMap<StreamId, FollowedStream> = new Map()
  #leftOut: LeftOut = { streams: 0, parts: 0 }
  #unlisted: unknown
  #isRead: boolean
  #failuresInARow = 0
  #cancelNext: Cancel = () => {}
  #statuses: AsyncIterableIterator<ClientStatus, undefined> | undefined
  #stopped = false

  constructor(options: StreamFollowerOptions, modules: StreamFollowerModules) {
    this.#options = options
    this.#modules = modules
    this.#isRead = options.patterns.length === 0
  }

  /** Begins to follow. What fails is tried again. Idempotent. */
  start(): void {
    if (this.#statuses !== undefined || this.#options.patterns.length === 0) return
    this.#statuses = this.#modules.client.status()
    void this.#listen(this.#statuses)
    void this.refresh()
  }

  /** Enters and leaves nothing more; resolves when nothing is under way. Idempotent. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancelNext()
    await this.#statuses?.return?.()
    await this.refresh()
  }

  /** By stream, in the order in which they have precedence. */
  get followed(): readonly FollowedStream[] {
    return [...this.#followed.values()]
  }

  /** Whether everything that is meant was read at least once. */
  get isRead(): boolean {
    return this.#isRead
  }

  get leftOut(): LeftOut {
    return this.#leftOut
  }

  /** Why it is not known which streams are meant; undefined when it is. */
  get unlisted(): unknown {
    return this.#unlisted
  }

  /** Asks the registry again, now or after the reading that is under way. Never rejects. */
  readonly refresh = oneAtATime(() => this.#refresh())

  async #listen(statuses: AsyncIterable<ClientStatus>): Promise<void> {
    for await (const status of statuses) {
      const isNews = status.type === 'registry' && this.#concerns(status.change)
      if (isNews || status.type === 'statuses-missed') void this.refresh()
    }
  }

  #concerns(change: RegistryChange): boolean {
    if (change.kind === 'unknown') return true
    if (change.kind !== 'stream' && change.kind !== 'permissions') return false
    const { userId } = this.#modules.client
    if (change.kind === 'permissions' && change.user !== 'public' && change.user !== userId) return false
    return this.#options.patterns.some((pattern) => matches(pattern, change.streamId))
  }

  async #refresh(): Promise<void> {
    if (this.#stopped) return
    this.#cancelNext()
    const { client, clock, events } = this.#modules
    const held = events.held()
    const seen = await survey({ ...this.#options, held, nowMs: clock.now() }, client)
    this.#unlisted = seen.unlisted
    for (const streamId of held.keys()) if (!seen.looks.has(streamId)) events.leave(streamId)
    const failures: unknown[] = seen.unlisted === undefined ? [] : [seen.unlisted]
    const followed = new Map<StreamId, FollowedStream>()
    const applied = await mapAtOnce([...seen.looks], maxAtOnce, ([streamId, look]) =>
      this.#apply(streamId, look),
    )
    if (this.#stopped) return
    for (const { error, ...now } of applied) {
      const { streamId } = now
      if (now.state === 'failed') failures.push(error)
      const was = this.#followed.get(streamId)
      if (was?.state !== now.state || was.partitions !== now.partitions)
        events.changed({ streamId, was, now, error })
      followed.set(streamId, now)
    }
    for (const [streamId, was] of this.#followed)
      if (!followed.has(streamId)) events.changed({ streamId, was, now: undefined })
    this.#followed = followed
    this.#tellLeftOut(seen)
    this.#isRead ||= failures.length === 0
    this.#lookLater(seen, failures)
  }

  /** Enters or leaves, so that it is as the look says. */
  async #apply(
    streamId: StreamId,
    { state, partitions, error }: Look,
  ): Promise<FollowedStream & { readonly error?: unknown }> {
    const { events } = this.#modules
    try {
      if (partitions === 0) events.leave(streamId)
      else if (!this.#stopped) await events.enter(streamId, partitions)
      return { streamId, state: state === 'readable' ? 'joined' : state, partitions, error }
    } catch (failure) {
      return { streamId, state: 'failed', partitions: events.held().get(streamId) ?? 0, error: failure }
    }
  }

  #tellLeftOut({ leftOut }: Survey): void {
    const { streams, parts } = this.#leftOut
    this.#leftOut = leftOut
    if (streams !== leftOut.streams || parts !== leftOut.parts) this.#modules.events.leftOut(leftOut)
  }

  /** What failed is tried again; and permissions end. */
  #lookLater({ looks }: Survey, failures: readonly unknown[]): void {
    if (this.#stopped) return
    const { clock, events } = this.#modules
    const { minBackoffMs, maxBackoffMs } = this.#options
    const isFailing = failures.length > 0
    if (isFailing && this.#failuresInARow === 0) events.failing(failures[0])
    this.#failuresInARow = isFailing ? this.#failuresInARow + 1 : 0
    const endMs = Math.min(...[...looks.values()].map(({ untilMs }) => untilMs)) - clock.now()
    const againMs = isFailing ? backoffMs(this.#failuresInARow, minBackoffMs, maxBackoffMs) : Infinity
    const delayMs = Math.min(endMs, againMs)
    if (delayMs === Infinity) return
    this.#cancelNext = clock.schedule(Math.min(delayMs, timerLimit), () => void this.refresh())
  }
}
