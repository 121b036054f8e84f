import type { RunnelClient } from '@runnel/client'
import { parseStreamPattern, StreamFollower, type FollowingClient } from '@runnel/client/follow'
import type { Clock, StreamId } from '@runnel/protocol'
import type { nodeLimits } from '../limits.ts'
import type { Logger } from '../logger.ts'
import { tellStreamNews } from './stream-news.ts'
import type { StreamsStatus } from './streams-status.ts'

export interface JoinedStreamsOptions {
  /** As in the setting `streams`. */
  readonly streams: readonly string[]
  readonly limits: Pick<
    typeof nodeLimits,
    'maxFollowedStreams' | 'maxFollowedParts' | 'minFollowBackoffMs' | 'maxFollowBackoffMs'
  >
}

export interface JoinedStreamsModules {
  readonly client: FollowingClient & Pick<RunnelClient, 'account' | 'joinStreamPart'>
  readonly clock: Pick<Clock, 'now' | 'schedule'>
  readonly logger: Pick<Logger, 'info' | 'warn'>
}

/**
 * Takes part in streams without subscribing to them: joins all partitions of each that its user may read, and follows the registry, so that
 * streams that are created or deleted later, and permissions that are given or taken, count. What it cannot join keeps it from no other.
 */
export class JoinedStreams {
  readonly #modules: JoinedStreamsModules
  readonly #follower: StreamFollower
  /** How to leave each joined partition. */
  readonly #joined = new Map<StreamId, (() => void)[]>()

  constructor({ streams, limits }: JoinedStreamsOptions, modules: JoinedStreamsModules) {
    const { client, clock, logger } = modules
    this.#modules = modules
    this.#follower = new StreamFollower(
      {
        patterns: streams.map((text) => parseStreamPattern(text, client.account)),
        maxStreams: limits.maxFollowedStreams,
        maxLooks: limits.maxFollowedStreams,
        maxParts: limits.maxFollowedParts,
        minBackoffMs: limits.minFollowBackoffMs,
        maxBackoffMs: limits.maxFollowBackoffMs,
      },
      {
        client,
        clock,
        events: {
          held: () => new Map([...this.#joined].map(([streamId, parts]) => [streamId, parts.length])),
          enter: (streamId, partitions) => this.#join(streamId, partitions),
          leave: (streamId) => this.#leave(streamId),
          changed: (change) => tellStreamNews(change, { userId: client.userId, logger }),
          leftOut: ({ parts: ignored }) => {
            if (ignored > 0)
              logger.warn({ ignored }, 'more stream parts than a node can join: name fewer streams')
          },
          failing: (err) =>
            logger.warn({ err }, 'not all streams could be read from the registry; trying again'),
        },
      },
    )
  }

  /** Begins to follow. What fails is tried again. Idempotent. */
  start(): void {
    this.#follower.start()
  }

  /** Leaves what it joined. Idempotent. */
  async stop(): Promise<void> {
    await this.#follower.stop()
    for (const streamId of [...this.#joined.keys()]) this.#leave(streamId)
  }

  get status(): StreamsStatus {
    const { isRead, followed, leftOut } = this.#follower
    return { isRead, followed, ignoredParts: leftOut.parts }
  }

  /** Asks the registry again, now or after the reading that is under way. Never rejects. */
  refresh(): Promise<void> {
    return this.#follower.refresh()
  }

  async #join(streamId: StreamId, partitions: number): Promise<void> {
    const releases = this.#joined.get(streamId) ?? []
    for (const release of releases.splice(partitions)) release()
    while (releases.length < partitions) {
      releases.push(await this.#modules.client.joinStreamPart(streamId, releases.length))
      this.#joined.set(streamId, releases)
    }
  }

  #leave(streamId: StreamId): void {
    for (const release of this.#joined.get(streamId) ?? []) release()
    this.#joined.delete(streamId)
  }
}
