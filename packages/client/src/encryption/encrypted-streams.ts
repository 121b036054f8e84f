import { encryptionChoiceIn, type Ciphers, type Crypto, type NodeId, type StreamId } from '@runnel/protocol'
import type { Clock, Random } from '@runnel/protocol'
import type { PermissionTable, StreamInfo } from '../registry/ports.ts'
import type { RegistryCache } from '../registry/registry-cache.ts'
import type { MessagePlace } from '../resend/wait-for-storage.ts'
import { KeyHolding } from './key-holding.ts'
import { KeyPart, type KeyPartModules } from './key-part.ts'
import { OwnCard } from './own-card.ts'
import type { Cards, ReadingKeySource } from './ports.ts'
import type { EncryptionNews } from './encryption-news.ts'
import { StreamEncryption } from './stream-encryption.ts'

export interface EncryptedStreamsModules extends KeyPartModules {
  readonly ciphers: Ciphers
  readonly cache: Pick<RegistryCache, 'getStream' | 'permissionsOf'>
  readonly permissionTable: (streamId: StreamId) => Promise<PermissionTable>
  readonly source: ReadingKeySource
  readonly directory: Cards
  readonly crypto: Crypto
  readonly clock: Clock
  readonly random: Random
  readonly stored: (places: readonly MessagePlace[], signal: AbortSignal) => Promise<void>
  readonly say: (streamId: StreamId, news: EncryptionNews) => void
  /** Why the registry does not answer; undefined while it does. */
  readonly outage: () => Error | undefined
  /** Aborted when the client closes. */
  readonly signal: AbortSignal
}

/** The streams whose keys this client needs, and the card of its user. */
export class EncryptedStreams {
  readonly card: OwnCard
  readonly #modules: EncryptedStreamsModules
  /** Each is made again when the stream itself is changed. */
  readonly #streams = new Map<StreamId, StreamEncryption>()
  readonly #holdings = new Map<StreamId, KeyHolding>()

  constructor(modules: EncryptedStreamsModules) {
    this.#modules = modules
    this.card = new OwnCard({ ...modules, userId: modules.user.userId })
  }

  get(streamId: StreamId): StreamEncryption | undefined {
    return this.#streams.get(streamId)
  }

  all(): readonly StreamEncryption[] {
    return [...this.#streams.values()]
  }

  /** The one that is there, or a new one. */
  of(info: StreamInfo): StreamEncryption {
    return this.#streams.get(info.id) ?? this.#add(info)
  }

  remove(streamId: StreamId): void {
    this.#streams.get(streamId)?.close()
    this.#streams.delete(streamId)
  }

  /** Keeps a stream's keys for all its publishers until `close`. Throws NOT_KEY_HOLDER, and what the registry throws. */
  async hold(streamId: StreamId, stream: () => Promise<StreamEncryption>): Promise<void> {
    if (this.#holdings.has(streamId)) return
    const { clock, say } = this.#modules
    const holding = new KeyHolding({
      stream,
      clock,
      onProblem: (error) => say(streamId, { state: 'unheld', error }),
    })
    this.#holdings.set(streamId, holding)
    try {
      await holding.start()
    } catch (error) {
      holding.stop()
      this.#holdings.delete(streamId)
      throw error
    }
  }

  close(): void {
    for (const holding of this.#holdings.values()) holding.stop()
    for (const streamId of [...this.#streams.keys()]) this.remove(streamId)
  }

  #add(info: StreamInfo): StreamEncryption {
    const { cache, permissionTable, directory, say } = this.#modules
    const stream = new StreamEncryption(
      { stream: info, choice: encryptionChoiceIn(info.metadata) },
      {
        ...this.#modules,
        userId: this.#modules.user.userId,
        keyPart: new KeyPart({ stream: info }, this.#modules),
        card: this.card,
        list: permissionTable,
        permissionsOf: (streamId: StreamId, user: NodeId) => cache.permissionsOf(streamId, user),
        cardsOf: (users, stream, signal) => directory.cardsOf(users, stream, signal),
        say: (news) => say(info.id, news),
      },
    )
    this.#streams.set(info.id, stream)
    return stream
  }
}
