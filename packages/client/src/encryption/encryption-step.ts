import {
  chainCipher,
  EncryptionType,
  isRunnelError,
  keyPartition,
  openBatch,
  sealMessages,
  toEpochId,
  type Aead,
  type Ciphers,
  type EpochId,
  type MessageBatch,
  type MessageChain,
  type MessageDraft,
  type StreamId,
  type StreamMessage,
} from '@runnel/protocol'
import type { ContentStep, MessageContent, SealContext } from '../content/content-step.ts'
import { clientError } from '../errors.ts'
import type { SealingEpoch } from './sealing-epoch.ts'
import type { StreamEncryption } from './stream-encryption.ts'

export interface EncryptionStepModules {
  readonly ciphers: Ciphers
  /** What to seal a stream's messages with, at once: undefined where that takes time. */
  readonly sealingNow: (streamId: StreamId) => SealingEpoch | 'clear' | undefined
  readonly sealing: (streamId: StreamId) => Promise<SealingEpoch | 'clear'>
  readonly streamNow: (streamId: StreamId) => StreamEncryption | undefined
  readonly stream: (streamId: StreamId) => Promise<StreamEncryption>
  /** Aborted when the client closes. */
  readonly signal: AbortSignal
}

/** The ciphers of a message chain in the epoch in which it was used last. */
interface ChainCiphers<T> {
  readonly id: EpochId
  readonly ciphers: T
}

/** A batch that was opened. */
interface OpenedBatch {
  readonly batch: MessageBatch
  readonly messages: readonly StreamMessage[]
  /** Which message is probably asked for next. */
  next: number
}

/** Encrypts and decrypts batches, with the keys of `StreamEncryption`. */
export class EncryptionStep implements ContentStep {
  readonly name = 'encryption'
  readonly #modules: EncryptionStepModules
  /** By chain, as an outbox and the decoder have one object for each. */
  readonly #sealingCiphers = new WeakMap<MessageChain, ChainCiphers<Aead>>()
  /** Those that may open a chain's batches. */
  readonly #openingCiphers = new WeakMap<MessageChain, ChainCiphers<readonly Aead[]>>()
  /** The batch that was asked for last: mostly the messages of a batch come together. */
  #last: OpenedBatch | undefined
  /** Batches of which messages were left when another was asked for. */
  readonly #unfinished = new WeakMap<MessageBatch, OpenedBatch>()

  constructor(modules: EncryptionStepModules) {
    this.#modules = modules
  }

  seal(
    messages: readonly MessageDraft[],
    { chain }: SealContext,
  ): readonly MessageContent[] | Promise<readonly MessageContent[]> {
    const now = this.#modules.sealingNow(chain.streamId)
    if (now !== undefined) return this.#sealWith(now, messages, chain)
    return this.#modules.sealing(chain.streamId).then((epoch) => this.#sealWith(epoch, messages, chain))
  }

  isSealed({ encryptionType }: StreamMessage): boolean {
    return encryptionType === EncryptionType.sealedBatch
  }

  open(message: StreamMessage): StreamMessage | Promise<StreamMessage> {
    const { batch } = message
    if (this.#last !== undefined && this.#last.batch === batch) return openedOf(message, this.#last)
    const before = batch && this.#unfinished.get(batch)
    if (before !== undefined) return openedOf(message, this.#turnTo(before))
    const id = toEpochId(message.groupKeyId)
    if (batch === undefined || id === undefined || message.partition === keyPartition)
      throw clientError('CONTENT_NOT_AUTHENTIC', `key ${message.groupKeyId}`)
    const opened = this.#openNow(batch, id)
    return opened === undefined ? this.#openLater(batch, id, message) : openedOf(message, opened)
  }

  #sealWith(
    epoch: SealingEpoch | 'clear',
    messages: readonly MessageDraft[],
    chain: MessageChain,
  ): readonly MessageContent[] {
    if (epoch === 'clear') return messages
    try {
      sealMessages(messages, epoch.id, this.#sealingCipher(epoch, chain))
      return messages
    } catch (error) {
      if (isRunnelError(error) && error.code === 'LIMIT_EXCEEDED')
        throw clientError('MESSAGE_TOO_LARGE', 'encryption adds 17 bytes', { cause: error })
      throw error
    }
  }

  #sealingCipher({ id, publisherKey }: SealingEpoch, chain: MessageChain): Aead {
    const known = this.#sealingCiphers.get(chain)
    if (known?.id === id) return known.ciphers
    const aead = chainCipher(this.#modules.ciphers, publisherKey, chain)
    this.#sealingCiphers.set(chain, { id, ciphers: aead })
    return aead
  }

  /** Undefined where no key that is known opens it. */
  #openNow(batch: MessageBatch, id: EpochId): OpenedBatch | undefined {
    const { chain } = batch
    const stream = this.#modules.streamNow(chain.streamId)
    if (stream === undefined) return undefined
    const keys = () => stream.known.publisherKeys(id, chain.publisherId)
    for (const aead of this.#ciphersFor(id, chain, keys)) {
      const messages = openBatch(batch, aead)
      if (messages !== undefined) return this.#turnTo({ batch, messages, next: 0 })
    }
    return undefined
  }

  /** What was opened to its end is let go: what a WeakMap has, V8 keeps until it collects old objects. */
  #turnTo(opened: OpenedBatch): OpenedBatch {
    const before = this.#last
    if (before !== undefined && before.next < before.messages.length)
      this.#unfinished.set(before.batch, before)
    return (this.#last = opened)
  }

  async #openLater(batch: MessageBatch, id: EpochId, message: StreamMessage): Promise<StreamMessage> {
    const { streamId, publisherId } = batch.chain
    for (;;) {
      const stream = await this.#modules.stream(streamId)
      const tried = stream.known.publisherKeys(id, publisherId)
      this.#openingCiphers.delete(batch.chain)
      const opened = this.#openNow(batch, id)
      if (opened !== undefined) return openedOf(message, opened)
      try {
        await stream.find({ publisherId, id, tried }, message.timestamp)
      } catch (error) {
        // The stream was changed while its key was looked for.
        if (stream.isClosed && !this.#modules.signal.aborted) continue
        if (tried.length === 0 || stream.isClosed) throw error
        throw clientError('CONTENT_NOT_AUTHENTIC', `key ${id} of ${publisherId}`, { cause: error })
      }
    }
  }

  #ciphersFor(id: EpochId, chain: MessageChain, keys: () => readonly Uint8Array[]): readonly Aead[] {
    const known = this.#openingCiphers.get(chain)
    if (known?.id === id) return known.ciphers
    const made = keys().map((key) => chainCipher(this.#modules.ciphers, key, chain))
    if (made.length > 0) this.#openingCiphers.set(chain, { id, ciphers: made })
    return made
  }
}

/** The place tells which one it is; mostly they are taken in order. */
function openedOf(message: StreamMessage, opened: OpenedBatch): StreamMessage {
  const { batch, messages, next } = opened
  const at = batch.messages[next] === message ? next : messages.findIndex((one) => isAt(one, message))
  const found = messages[at]
  if (found === undefined) throw clientError('CONTENT_NOT_AUTHENTIC', `key ${message.groupKeyId}`)
  opened.next = at + 1
  return found
}

function isAt(one: StreamMessage, { timestamp, sequenceNumber }: StreamMessage): boolean {
  return one.timestamp === timestamp && one.sequenceNumber === sequenceNumber
}
