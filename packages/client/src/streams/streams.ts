import {
  isRunnelError,
  protocolError,
  type Card,
  type Clock,
  type NodeId,
  type StreamId,
} from '@runnel/protocol'
import type { ClientKeys } from '../encryption/client-keys.ts'
import type { Cards } from '../encryption/ports.ts'
import type { StreamInfo } from '../registry/ports.ts'
import type { RegistryService } from '../registry/registry-service.ts'
import { findStreams, type StreamFilter } from './find-streams.ts'
import {
  cardIn,
  draftOf,
  grantOf,
  revokedOf,
  settingsOf,
  type GrantOptions,
  type NewStream,
  type RevokeOptions,
  type StreamUpdate,
} from './stream-changes.ts'

export interface StreamsModules {
  readonly registry: Pick<RegistryService, 'writer' | 'cache' | 'listStreams'>
  readonly keys: Pick<ClientKeys, 'checkCard' | 'passOn'>
  readonly cards: Pick<Cards, 'cardsOf'>
  readonly clock: Pick<Clock, 'now'>
}

/** The streams in the registry, and who may do what with them: what an application asks for, checked and done. */
export class Streams {
  readonly #who: { readonly account: NodeId; readonly userId: NodeId }
  readonly #modules: StreamsModules

  constructor(who: { readonly account: NodeId; readonly userId: NodeId }, modules: StreamsModules) {
    this.#who = who
    this.#modules = modules
  }

  async create(stream: NewStream): Promise<StreamInfo> {
    const { writer, cache } = this.#modules.registry
    const draft = draftOf(stream, this.#who.account)
    await writer.createStream(draft)
    // Created it is, whether or not the chain still answers.
    const created = await cache.getStream(draft.id).catch(() => undefined)
    return created ?? { ...draft, createdMs: 0 }
  }

  async update(streamId: StreamId, update: StreamUpdate): Promise<void> {
    await this.#modules.registry.writer.updateStream(streamId, settingsOf(update))
  }

  async list(filter: StreamFilter): Promise<readonly StreamInfo[]> {
    const { registry, clock } = this.#modules
    return findStreams(filter, { ...this.#who, nowMs: clock.now(), registry })
  }

  async grant(streamId: StreamId, grant: GrantOptions): Promise<void> {
    const { registry, keys } = this.#modules
    const given = grantOf(grant)
    const card = cardIn(grant)
    if (card !== undefined) {
      await keys.checkCard(card)
      await this.#requireNewest(card, streamId)
    }
    await registry.writer.grant(streamId, given)
    const { user, permissions } = given
    if (user !== 'public' && permissions.includes('subscribe')) await keys.passOn(streamId, user, card)
  }

  async revoke(streamId: StreamId, revoked: RevokeOptions): Promise<void> {
    await this.#modules.registry.writer.revoke(streamId, revokedOf(revoked))
  }

  /** Keys are not passed on to a reading key that its user replaced. Where no storage node answers, none that replaced it is known. */
  async #requireNewest({ userId, generation }: Card, streamId: StreamId): Promise<void> {
    const { cards, registry } = this.#modules
    const stream = await registry.cache.getStream(streamId)
    const found = await cards.cardsOf([userId], stream).catch((error: unknown) => {
      if (!isRunnelError(error)) throw error
      return undefined
    })
    const newest = found?.get(userId)?.generation ?? generation
    if (newest > generation)
      throw protocolError('CARD_OLDER_GENERATION', `of ${userId}: ${generation}, where ${newest} is known`)
  }
}
