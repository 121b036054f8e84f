import type { RunnelClient } from '@runnel/client'
import { backoffMs, oneAtATime, type Cancel, type Clock, type StreamId } from '@runnel/protocol'
import type { nodeLimits } from '../limits.ts'
import type { Logger } from '../logger.ts'
import { tellStreamNews } from './stream-news.ts'
import { matches, parseStreamPattern, type StreamPattern } from './stream-pattern.ts'
import type { FollowedStream, StreamsStatus } from './streams-status.ts'
import { survey, type Look, type Survey, type SurveyedClient } from './survey.ts'

/** Timers of JavaScript count no further, in milliseconds. */
const timerLimit = 2 ** 31 - 1

export interface StreamFollowerOptions {
  /** As in the setting `streams`. */
  readonly streams: readonly string[]
  readonly limits: Pick<
    typeof nodeLimits,
    'maxFollowedStreams' | 'maxFollowedParts' | 'minFollowBackoffMs' | 'maxFollowBackoffMs'
  >
}

export interface StreamFollowerModules {
  readonly client: SurveyedClient & Pick<RunnelClient, 'account' | 'joinStreamPart' | 'status'>
  readonly clock: Pick<Clock, 'now' | 'schedule'>
  readonly logger: Pick<Logger, 'info' | 'warn'>
}

/**
 * Takes part in streams without subscribing to them: joins all partitions of each that its user may read, and follows the registry, so that
 * streams that are created or deleted later, and permissions that are given or taken, count. What it cannot join keeps it from no other.
 */
export class StreamFollower {
  readonly #options: StreamFollowerOptions
  readonly #modules: StreamFollowerModules
  readonly #patterns: readonly StreamPattern[]
  /** How to leave each joined partition. */
  readonly #joined = new Map<StreamId, (() => void)[]>()
  #followed: readonly FollowedStream[] = []
  #ignoredParts = 0
  #isRead: boolean
  #failuresInARow = 0
  #cancelNext: Cancel = () => {}
  #statuses: ReturnType<RunnelClient['status']> | undefined
  #stopped = false

  constructor(options: StreamFollowerOptions, modules: StreamFollowerModules) {
    this.#options = options
    this.#modules = modules
    this.#patterns = options.streams.map((text) => parseStreamPattern(text, modules.client.account))
    this.#isRead = this.#patterns.length === 0
  }

  /** Begins to follow. What fails is tried again. Idempotent. */
  start(): void {
    if (this.#statuses !== undefined || this.#patterns.length === 0) return
    this.#statuses = this.#modules.client.status()
    void this.#listen(this.#statuses)
    void this.refresh()
  }

  /** Leaves what it joined. Idempotent. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancelNext()
    await this.#statuses?.return?.()
    await this.refresh()
    for (const streamId of [...this.#joined.keys()]) this.#leave(streamId)
  }

  get status(): StreamsStatus {
    return { isRead: this.#isRead, followed: this.#followed, ignoredParts: this.#ignoredParts }
  }

  /** Asks the registry again, now or after the reading that is under way. Never rejects. */
  readonly refresh = oneAtATime(() => this.#refresh())

  async #listen(statuses: ReturnType<RunnelClient['status']>): Promise<void> {
    for await (const status of statuses) {
      if (status.type === 'statuses-missed') void this.refresh()
      if (status.type !== 'registry') continue
      const { change } = status
      const isMeant = (id: StreamId) => this.#patterns.some((pattern) => matches(pattern, id))
      if (change.kind === 'unknown' || ('streamId' in change && isMeant(change.streamId))) void this.refresh()
    }
  }

  async #refresh(): Promise<void> {
    if (this.#stopped) return
    this.#cancelNext()
    const { client, clock, logger } = this.#modules
    const { maxFollowedStreams: maxStreams, maxFollowedParts: maxParts } = this.#options.limits
    const [patterns, joined] = [this.#patterns, this.#joined]
    const seen = await survey({ patterns, joined, maxStreams, maxParts, nowMs: clock.now() }, client)
    const failures = [...seen.failures]
    for (const streamId of [...joined.keys()]) if (!seen.looks.has(streamId)) this.#leave(streamId)
    const followed: FollowedStream[] = []
    for (const [streamId, look] of seen.looks) followed.push(await this.#apply(streamId, look, failures))
    if (this.#stopped) return
    tellStreamNews(this.#followed, followed, { userId: client.userId, logger })
    this.#followed = followed
    this.#tellIgnored(seen)
    this.#isRead ||= failures.length === 0
    this.#lookLater(seen, failures)
  }

  /** Joins or leaves, so that it is as the look says. */
  async #apply(id: StreamId, { state, partitions }: Look, failures: unknown[]): Promise<FollowedStream> {
    if ((this.#joined.get(id)?.length ?? 0) > partitions) this.#leave(id)
    const releases = this.#joined.get(id) ?? []
    try {
      while (releases.length < partitions && !this.#stopped) {
        releases.push(await this.#modules.client.joinStreamPart(id, releases.length))
        this.#joined.set(id, releases)
      }
      return { streamId: id, state, partitions: releases.length }
    } catch (error) {
      failures.push(error)
      return { streamId: id, state: 'failed', partitions: releases.length }
    }
  }

  #leave(streamId: StreamId): void {
    for (const release of this.#joined.get(streamId) ?? []) release()
    this.#joined.delete(streamId)
  }

  #tellIgnored({ ignored }: Survey): void {
    if (ignored > 0 && ignored !== this.#ignoredParts)
      this.#modules.logger.warn({ ignored }, 'more stream parts than a node joins: give it fewer streams')
    this.#ignoredParts = ignored
  }

  /** What failed is tried again; and permissions end. */
  #lookLater({ looks }: Survey, [failure]: readonly unknown[]): void {
    const { clock, logger } = this.#modules
    const { minFollowBackoffMs: min, maxFollowBackoffMs: max } = this.#options.limits
    // Said once, until it works again.
    if (failure !== undefined && this.#failuresInARow === 0)
      logger.warn({ err: failure }, 'the streams cannot all be read from the registry; trying again')
    this.#failuresInARow = failure === undefined ? 0 : this.#failuresInARow + 1
    const endMs = Math.min(...[...looks.values()].map(({ untilMs }) => untilMs)) - clock.now()
    const delayMs = Math.min(
      endMs,
      failure === undefined ? Infinity : backoffMs(this.#failuresInARow, min, max),
    )
    if (delayMs === Infinity) return
    this.#cancelNext = clock.schedule(Math.min(delayMs, timerLimit), () => void this.refresh())
  }
}
