import {
  clearUntilMs,
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
import { KeyHolding } from './key-holding.ts'
import { KeyPart, type KeyPartModules } from './key-part.ts'
import type { SealingEpoch } from './opener.ts'
import { OwnCard } from './own-card.ts'
import type { Cards, ReadingKeySource } from './ports.ts'
import { StreamEncryption, type EncryptionNews } from './stream-encryption.ts'

export interface EncryptionModules extends KeyPartModules {
  readonly cache: RegistryCache
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

  readonly #holdings = new Map<StreamId, KeyHolding>()

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
    })
  }

  /** The encryption of a stream, whether or not it is encrypted now. Throws STREAM_NOT_FOUND, and what the registry throws. */
  async stream(streamId: StreamId): Promise<StreamEncryption> {
    const known = this.#streams.get(streamId)
    if (known !== undefined) return known
    const info = await this.#modules.cache.getStream(streamId)
    if (info === undefined) throw streamNotFound(streamId)
    return this.#streams.get(streamId) ?? this.#add(info)
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
    if (change.kind === 'unknown') {
      this.#decisions.clear()
      for (const stream of this.#streams.values()) stream.changed(undefined)
    } else if (change.kind === 'stream') {
      this.#decisions.delete(change.streamId)
      this.#streams.get(change.streamId)?.close()
      this.#streams.delete(change.streamId)
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

  /**
   * Keeps a stream's keys for all its publishers until this client closes. Resolves when there is a key; throws NOT_KEY_HOLDER, and what
   * `stream` and the registry throw.
   */
  async hold(streamId: StreamId): Promise<void> {
    if (this.#holdings.has(streamId)) return
    const { clock, say } = this.#modules
    const holding = new KeyHolding({
      stream: () => this.stream(streamId),
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

  /** Resolves when all records that were published are stored, or cannot be. */
  async settled(signal: AbortSignal): Promise<void> {
    await Promise.allSettled([...this.#streams.values()].map((stream) => stream.settled(signal)))
  }

  close(): void {
    for (const holding of this.#holdings.values()) holding.stop()
    for (const stream of this.#streams.values()) stream.close()
    this.#streams.clear()
  }

  #sealingNow(streamId: StreamId): SealingEpoch | 'clear' | undefined {
    const decision = this.#decisions.get(streamId)
    if (decision === undefined) return undefined
    return this.#modules.clock.now() < decision.clearUntilMs ? 'clear' : decision.stream.sealingNow
  }

  async #sealing(streamId: StreamId): Promise<SealingEpoch | 'clear'> {
    const { clearUntilMs, stream } = await this.#decide(streamId)
    return this.#modules.clock.now() < clearUntilMs ? 'clear' : stream.sealing()
  }

  async #decide(streamId: StreamId): Promise<Decision> {
    const known = this.#decisions.get(streamId)
    if (known !== undefined) return known
    const { cache } = this.#modules
    const [stream, permissions] = await Promise.all([
      this.stream(streamId),
      cache.permissionsOf(streamId, nobody),
    ])
    const decision = { clearUntilMs: clearUntilMs(stream.choice, permissions.subscribeUntilMs), stream }
    this.#decisions.set(streamId, decision)
    return decision
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
