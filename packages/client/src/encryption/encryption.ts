import {
  encryptionChoiceIn,
  keyPartition,
  toNodeId,
  type Card,
  type Ciphers,
  type Clock,
  type Crypto,
  type NodeId,
  type Random,
  type StreamId,
  type StreamMessage,
} from '@runnel/protocol'
import { ciphers } from '@runnel/protocol'
import { streamNotFound } from '../errors.ts'
import type { RegistryChange, StreamInfo, UserPermissions } from '../registry/ports.ts'
import type { RegistryCache } from '../registry/registry-cache.ts'
import type { MessagePlace } from '../resend/wait-for-storage.ts'
import { EncryptionStep } from './encryption-step.ts'
import { KeyPart, type KeyPartModules } from './key-part.ts'
import type { SealingEpoch } from './opener.ts'
import { OwnCard } from './own-card.ts'
import type { Cards, ReadingKeySource } from './ports.ts'
import { StreamEncryption, type EncryptionNews } from './stream-encryption.ts'

export interface EncryptionModules extends KeyPartModules {
  readonly cache: Pick<RegistryCache, 'getStream' | 'permissionsOf'>
  readonly listPermissions: (streamId: StreamId) => Promise<readonly UserPermissions[]>
  readonly source: ReadingKeySource
  readonly directory: Cards
  readonly crypto: Crypto
  readonly clock: Clock
  readonly random: Random
  readonly stored: (places: readonly MessagePlace[], signal: AbortSignal) => Promise<void>
  readonly say: (streamId: StreamId, news: EncryptionNews) => void
  /** Aborted when the client closes. */
  readonly signal: AbortSignal
}

/** Whether a stream is encrypted. */
interface Decision {
  /** Unix milliseconds: until then everybody may subscribe, and nothing is encrypted. */
  readonly clearUntilMs: number
  readonly stream: StreamEncryption
}

/** Nobody has its key: what it may do, everybody may. */
const nobody: NodeId = toNodeId(`0x${'0'.repeat(40)}`)

/** The encryption of all streams that this client publishes or reads. */
export class Encryption {
  readonly step: EncryptionStep
  readonly card: OwnCard
  readonly #modules: EncryptionModules
  readonly #ciphers: Ciphers = ciphers
  readonly #decisions = new Map<StreamId, Decision>()
  /** Each is made again when the stream itself is changed. */
  readonly #streams = new Map<StreamId, StreamEncryption>()
  /** Of the registry, counted. */
  #changes = 0

  constructor(modules: EncryptionModules) {
    this.#modules = modules
    const { userId } = modules.user
    this.card = new OwnCard({ ...modules, userId, ciphers: this.#ciphers })
    this.step = new EncryptionStep({
      ciphers: this.#ciphers,
      sealingNow: (streamId) => this.#sealingNow(streamId),
      sealing: (streamId) => this.#sealing(streamId),
      streamNow: (streamId) => this.#streams.get(streamId),
      stream: (streamId) => this.stream(streamId),
      signal: modules.signal,
    })
  }

  /** The encryption of a stream, whether or not it is encrypted now. Throws STREAM_NOT_FOUND, and what the registry throws. */
  async stream(streamId: StreamId): Promise<StreamEncryption> {
    for (;;) {
      const changes = this.#changes
      const known = this.#streams.get(streamId)
      if (known !== undefined) return known
      const info = await this.#modules.cache.getStream(streamId)
      if (info === undefined) throw streamNotFound(streamId)
      // What changed meanwhile may have made this wrong.
      if (changes === this.#changes) return this.#streams.get(streamId) ?? this.#add(info)
    }
  }

  /** Whether messages that are published now are encrypted. Throws as `stream` does. */
  async isEncrypted(streamId: StreamId): Promise<boolean> {
    const { clearUntilMs } = await this.#decide(streamId)
    return this.#modules.clock.now() >= clearUntilMs
  }

  /** A message of a key part came. */
  receive(message: StreamMessage): void {
    if (message.partition === keyPartition) this.#streams.get(message.streamId)?.receive(message)
  }

  /** The registry changed. */
  apply(change: RegistryChange): void {
    this.#changes++
    if (change.kind === 'unknown') {
      this.#decisions.clear()
      for (const stream of this.#streams.values()) {
        stream.changed(undefined)
        // Where the registry does not answer, it tells again when it does.
        this.#compare(stream).catch(() => {})
      }
    } else if (change.kind === 'stream') {
      this.#drop(change.streamId)
    } else if (change.kind === 'permissions') {
      const { streamId, user } = change
      if (user === 'public') this.#decisions.delete(streamId)
      this.#streams.get(streamId)?.changed(user === 'public' ? undefined : user)
    }
  }

  /** Passes keys on to a user who was just given a permission. That it could not be done is said, and no error: the user asks itself. */
  async share(streamId: StreamId, userId: NodeId, card?: Card): Promise<void> {
    if (await this.isEncrypted(streamId)) await (await this.stream(streamId)).share(userId, card)
  }

  /** Resolves when all records that were published are stored, or cannot be. */
  async settled(signal: AbortSignal): Promise<void> {
    await Promise.allSettled([...this.#streams.values()].map((stream) => stream.settled(signal)))
  }

  close(): void {
    for (const stream of this.#streams.values()) stream.close()
    this.#streams.clear()
  }

  #sealingNow(streamId: StreamId): SealingEpoch | 'clear' | undefined {
    const decision = this.#decisions.get(streamId)
    if (decision === undefined) return undefined
    return this.#modules.clock.now() < decision.clearUntilMs ? 'clear' : decision.stream.sealingNow
  }

  async #sealing(streamId: StreamId): Promise<SealingEpoch | 'clear'> {
    for (;;) {
      const { clearUntilMs, stream } = await this.#decide(streamId)
      if (this.#modules.clock.now() < clearUntilMs) return 'clear'
      try {
        return await stream.sealing()
      } catch (error) {
        if (!stream.isClosed || this.#modules.signal.aborted) throw error
      }
    }
  }

  /** A change of the stream may have been missed. */
  async #compare({ stream }: StreamEncryption): Promise<void> {
    const info = await this.#modules.cache.getStream(stream.id)
    if (info?.metadata !== stream.metadata || info.createdMs !== stream.createdMs) this.#drop(stream.id)
  }

  #drop(streamId: StreamId): void {
    this.#decisions.delete(streamId)
    this.#streams.get(streamId)?.close()
    this.#streams.delete(streamId)
  }

  async #decide(streamId: StreamId): Promise<Decision> {
    const { cache } = this.#modules
    for (;;) {
      const changes = this.#changes
      const known = this.#decisions.get(streamId)
      if (known !== undefined) return known
      const [stream, permissions] = await Promise.all([
        this.stream(streamId),
        cache.permissionsOf(streamId, nobody),
      ])
      if (changes !== this.#changes) continue
      const { content } = stream.choice
      const publicUntilMs = content === 'always' ? 0 : permissions.subscribeUntilMs
      const decision = { clearUntilMs: content === 'never' ? Infinity : publicUntilMs, stream }
      this.#decisions.set(streamId, decision)
      return decision
    }
  }

  #add(info: StreamInfo): StreamEncryption {
    const { cache, listPermissions, directory, say } = this.#modules
    const stream = new StreamEncryption(
      { stream: info, choice: encryptionChoiceIn(info.metadata) },
      {
        ...this.#modules,
        userId: this.#modules.user.userId,
        keyPart: new KeyPart({ stream: info }, this.#modules),
        ciphers: this.#ciphers,
        card: this.card,
        list: listPermissions,
        permissionsOf: (streamId, user) => cache.permissionsOf(streamId, user),
        cardsOf: (users, stream, signal) => directory.cardsOf(users, stream, signal),
        say: (news) => say(info.id, news),
      },
    )
    this.#streams.set(info.id, stream)
    return stream
  }
}
