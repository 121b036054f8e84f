import type { Encryption } from '../encryption/encryption.ts'
import type { ActingUser } from '../identity/acting-user.ts'
import type { ReadingRights } from '../reading-rights.ts'
import type { RegistryService } from '../registry/registry-service.ts'
import type { StatusHub } from '../status.ts'
import type { Subscriber } from '../subscribe/subscriber.ts'

export interface RegistryHearers {
  readonly user: Pick<ActingUser, 'userId' | 'endedUntil'>
  readonly rights: Pick<ReadingRights, 'lookAgain'>
  readonly encryption: Pick<Encryption, 'apply' | 'reached'>
  readonly status: Pick<StatusHub, 'emit'>
  readonly subscriber: Pick<Subscriber, 'streamsChanged'>
}

/** Hears what changes in the registries, and how these can be reached, and tells of it. */
export function hearRegistry(
  registry: RegistryService,
  { user, rights, encryption, status, subscriber }: RegistryHearers,
): void {
  registry.readerPolicy.onChange((streamId) => rights.lookAgain(streamId))
  registry.onChange = (change) => {
    encryption.apply(change)
    if (change.kind === 'stream') subscriber.streamsChanged(change.streamId)
    else if (change.kind === 'unknown') subscriber.streamsChanged(undefined)
    if (change.kind === 'delegations' && change.userId === user.userId && 'begunByMs' in change)
      user.endedUntil(change.begunByMs)
    status.emit({ type: 'registry', change })
  }
  registry.onHealth = (health) => {
    encryption.reached(
      health.state === 'unreachable' ? (health.error ?? new Error(health.source)) : undefined,
    )
    status.emit({ type: 'chain', ...health })
  }
  registry.onEndpoint = (endpoint) => status.emit({ type: 'endpoint', ...endpoint })
  registry.onTrackers = (listed) => status.emit({ type: 'trackers', ...listed })
}
