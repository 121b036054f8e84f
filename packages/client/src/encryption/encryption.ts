import {
  ciphers,
  clearUntilMs,
  encryptionChoiceIn,
  keyPartition,
  parseStreamPartId,
  toNodeId,
  type Card,
  type NodeId,
  type StreamId,
  type StreamMessage,
  type StreamPartId,
} from '@runnel/protocol'
import { streamNotFound } from '../errors.ts'
import type { RegistryChange, StreamInfo } from '../registry/ports.ts'
import type { EncryptedStreams, EncryptedStreamsModules } from './encrypted-streams.ts'
import { EncryptionStep } from './encryption-step.ts'
import type { SealingEpoch } from './sealing-epoch.ts'
import type { StreamEncryption } from './stream-encryption.ts'

export type EncryptionModules = Omit<EncryptedStreamsModules, 'ciphers' | 'outage'>

/** Nobody has its key: what it may do, everybody may. */
const nobody: NodeId = toNodeId(`0x${'0'.repeat(40)}`)

/**
 * The encryption of all streams that this client publishes or reads. A page loads what that takes when the first of them turns out to be
 * encrypted.
 */
export class Encryption {
  readonly step: EncryptionStep
  readonly #modules: EncryptionModules
  /** Of streams, the time (Unix milliseconds) until which everybody may subscribe, so that nothing is encrypted. */
  readonly #clearUntilMs = new Map<StreamId, number>()
  /** Streams of which the registry told a change, until it is known whether that concerns their encryption. */
  readonly #comparing = new Map<StreamId, Promise<void>>()
  /** Of the registry, so far. */
  #changes = 0
  #loading: Promise<EncryptedStreams> | undefined
  /** Why the registry does not answer; undefined while it does. */
  #outage: Error | undefined
  /** Undefined until it is loaded. */
  #streams: EncryptedStreams | undefined

  constructor(modules: EncryptionModules) {
    this.#modules = modules
    this.step = new EncryptionStep({
      ciphers,
      sealingNow: (streamId) => this.#sealingNow(streamId),
      sealing: (streamId) => this.#sealing(streamId),
      streamNow: (streamId) => this.#streams?.get(streamId),
      stream: (streamId) => this.stream(streamId),
      signal: modules.signal,
    })
  }

  /** The encryption of a stream, whether or not it is encrypted now. Throws STREAM_NOT_FOUND, and what the registry throws. */
  async stream(streamId: StreamId): Promise<StreamEncryption> {
    for (;;) {
      await this.#comparing.get(streamId)
      const changes = this.#changes
      const known = this.#streams?.get(streamId)
      if (known !== undefined) return known
      const [streams, info] = await Promise.all([this.#load(), this.#infoOf(streamId)])
      // What changed meanwhile may have made this wrong.
      if (changes === this.#changes) return streams.of(info)
    }
  }

  /** Whether messages that are published now are encrypted. Throws as `stream` does. */
  async isEncrypted(streamId: StreamId): Promise<boolean> {
    return this.#modules.clock.now() >= (await this.#decide(streamId))
  }

  /** A message of a key part came. */
  receive(message: StreamMessage): void {
    if (message.partition === keyPartition) this.#streams?.get(message.streamId)?.receive(message)
  }

  /** The neighbours in a stream part changed. */
  neighboursChanged(streamPartId: StreamPartId, neighbours: readonly NodeId[]): void {
    if (this.#streams === undefined) return
    const { streamId, partition } = parseStreamPartId(streamPartId)
    if (partition === keyPartition) this.#streams.get(streamId)?.neighboursChanged(neighbours)
  }

  /** The registry changed. */
  apply(change: RegistryChange): void {
    this.#changes++
    const streams = this.#streams?.all() ?? []
    if (change.kind === 'unknown' || change.kind === 'storage')
      for (const stream of streams) stream.storeAgain()
    if (change.kind === 'unknown') {
      this.#clearUntilMs.clear()
      for (const stream of streams) {
        stream.changed(undefined)
        this.#compare(stream)
      }
    } else if (change.kind === 'stream') {
      this.#clearUntilMs.delete(change.streamId)
      const stream = this.#streams?.get(change.streamId)
      if (stream !== undefined) this.#compare(stream)
    } else if (change.kind === 'permissions') {
      const { streamId, user } = change
      if (user === 'public') this.#clearUntilMs.delete(streamId)
      this.#streams?.get(streamId)?.changed(user === 'public' ? undefined : user, change)
    }
  }

  /** The registry does not answer, and why, or, undefined, it does again. */
  reached(outage: Error | undefined): void {
    const isOver = this.#outage !== undefined && outage === undefined
    this.#outage = outage
    for (const stream of this.#streams?.all() ?? []) {
      if (outage !== undefined) stream.uncertain(outage)
      else if (isOver) stream.certainAgain()
    }
  }

  /** Passes keys on to a user who was just given a permission. That it could not be done is said, and no error: the user asks itself. */
  async share(streamId: StreamId, userId: NodeId, card?: Card): Promise<void> {
    if (await this.isEncrypted(streamId)) await (await this.stream(streamId)).share(userId, card)
  }

  /** Has the user read with its next reading key from now on. Throws what `renewReadingKey` throws. */
  async renewCard(signal: AbortSignal): Promise<Card> {
    return (await this.#load()).card.renew(signal)
  }

  /** The user's card, which is signed and put where others find it if there is none. Throws what `OwnCard.ensure` throws. */
  async ensureCard(signal: AbortSignal): Promise<Card> {
    return (await this.#load()).card.ensure(undefined, signal)
  }

  /**
   * Keeps a stream's keys for all its publishers until this client closes. Resolves when there is a key; throws NOT_KEY_HOLDER, and what
   * `stream` and the registry throw.
   */
  async hold(streamId: StreamId): Promise<void> {
    await (await this.#load()).hold(streamId, () => this.stream(streamId))
  }

  /** Messages of a stream are read from now on. Resolves when what comes with encryption is begun; throws as `stream` does. */
  async attend(streamId: StreamId): Promise<void> {
    if (!(await this.isEncrypted(streamId))) return
    const stream = await this.stream(streamId)
    if (!this.#modules.signal.aborted) stream.attend()
  }

  /** Resolves when storage nodes have the keys of streams that were made here. Tries until the signal is aborted: throws ABORTED. */
  async keysStored(streamIds: Iterable<StreamId>, signal: AbortSignal): Promise<void> {
    await Promise.all([...streamIds].map((id) => this.#keysStored(id, signal)))
  }

  /** A stream that was changed meanwhile has another encryption, which made other keys. */
  async #keysStored(id: StreamId, signal: AbortSignal): Promise<void> {
    for (let last: StreamEncryption | undefined; ;) {
      const present = this.#streams?.get(id)
      if (present === last) return
      await present?.keysStored(signal)
      last = present
    }
  }

  /** Resolves when others can read without this process what it published, as far as that can be. */
  async finish(signal: AbortSignal): Promise<void> {
    const streams = this.#streams?.all() ?? []
    await Promise.allSettled(streams.map((stream) => stream.finish(signal)))
  }

  close(): void {
    this.#streams?.close()
  }

  #sealingNow(streamId: StreamId): SealingEpoch | 'clear' | undefined {
    const untilMs = this.#clearUntilMs.get(streamId)
    if (untilMs === undefined || this.#comparing.has(streamId)) return undefined
    return this.#modules.clock.now() < untilMs ? 'clear' : this.#streams?.get(streamId)?.sealingNow
  }

  async #sealing(streamId: StreamId): Promise<SealingEpoch | 'clear'> {
    for (;;) {
      if (!(await this.isEncrypted(streamId))) return 'clear'
      const stream = await this.stream(streamId)
      try {
        return await stream.sealing()
      } catch (error) {
        if (!stream.isClosed || this.#modules.signal.aborted) throw error
      }
    }
  }

  /** Begins anew with a stream whose metadata is another now, or which is another stream. */
  #compare(encryption: StreamEncryption): void {
    const { id } = encryption.stream
    const compared = encryption
      .isReplaced(() => this.#compare(encryption))
      .then((isReplaced) => {
        // It changed again meanwhile, and is compared again.
        if (!isReplaced || this.#comparing.get(id) !== compared) return
        this.#clearUntilMs.delete(id)
        this.#streams?.remove(id)
      })
      .finally(() => {
        if (this.#comparing.get(id) === compared) this.#comparing.delete(id)
      })
    this.#comparing.set(id, compared)
  }

  /** Until when the stream is in the clear: 0 when it is encrypted, Infinity when it never is. */
  async #decide(streamId: StreamId): Promise<number> {
    const known = this.#clearUntilMs.get(streamId)
    if (known !== undefined) return known
    const changes = this.#changes
    const [{ metadata }, permissions] = await Promise.all([
      this.#infoOf(streamId),
      this.#modules.cache.permissionsOf(streamId, nobody),
    ])
    // What was read while something changed may be from before.
    if (changes !== this.#changes) return this.#decide(streamId)
    const untilMs = clearUntilMs(encryptionChoiceIn(metadata), permissions.subscribeUntilMs)
    this.#clearUntilMs.set(streamId, untilMs)
    return untilMs
  }

  async #infoOf(streamId: StreamId): Promise<StreamInfo> {
    const info = await this.#modules.cache.getStream(streamId)
    if (info === undefined) throw streamNotFound(streamId)
    return info
  }

  async #load(): Promise<EncryptedStreams> {
    this.#loading ??= import('./encrypted-streams.ts').then(
      ({ EncryptedStreams }) =>
        (this.#streams = new EncryptedStreams({ ...this.#modules, ciphers, outage: () => this.#outage })),
      (error: unknown) => {
        // A page may be without a network just now.
        this.#loading = undefined
        throw error
      },
    )
    return this.#loading
  }
}
