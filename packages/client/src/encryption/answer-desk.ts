import {
  answerChain,
  cardHash,
  decodeCard,
  isCardSignedByKey,
  newerCard,
  toBase64Url,
  type Card,
  type Ciphers,
  type Clock,
  type Crypto,
  type EncryptionChoice,
  type EpochId,
  type NodeId,
  type Random,
  type RequestRecord,
  type StreamId,
} from '@runnel/protocol'
import { LRU } from 'tiny-lru'
import type { MessagePlace } from '../resend/wait-for-storage.ts'
import type { FoundRecord, KeyPart } from './key-part.ts'
import type { KnownKeys } from './known-keys.ts'
import type { Opener } from './opener.ts'
import type { ReaderSet } from './reader-set.ts'
import { sealAnswer } from './sealed-records.ts'

export interface AnswerDeskModules {
  readonly streamId: StreamId
  readonly choice: EncryptionChoice
  readonly ciphers: Ciphers
  readonly crypto: Crypto
  readonly clock: Clock
  readonly random: Random
  readonly readers: ReaderSet
  readonly keyPart: Pick<KeyPart, 'publish'>
  readonly known: KnownKeys
  readonly opener: Pick<Opener, 'isOpen' | 'epoch' | 'linkTo'>
  readonly cardsOf: (users: readonly NodeId[], signal: AbortSignal) => Promise<ReadonlyMap<NodeId, Card>>
  readonly onPublished: (place: MessagePlace) => void
  readonly signal: AbortSignal
}

/** Up to so long others are given to answer first. */
const maxDelayMs = 500
/** One reader is answered this often at most. */
const pauseMs = 5_000
/** Readers of whom it is known when they were answered. */
const maxReaders = 2_000

/** Answers readers that ask for keys: with a link where this process opens epochs, else with the keys it knows itself. */
export class AnswerDesk {
  readonly #modules: AnswerDeskModules
  /** When a reader was answered last, here or by somebody else. */
  readonly #answeredMs = new LRU<number>(maxReaders)

  constructor(modules: AnswerDeskModules) {
    this.#modules = modules
  }

  /** A record came: a request, or somebody else's answer to one. */
  receive({ publisherId, record }: FoundRecord): void {
    const { clock, random } = this.#modules
    if (record.kind === 'link' || record.kind === 'answer')
      this.#answeredMs.set(record.readerId, clock.monotonicMs())
    if (record.kind !== 'request') return
    if (this.#modules.opener.isOpen) return this.#answerNow(publisherId, record)
    clock.schedule(random.next() * maxDelayMs, () => {
      if (!this.#modules.signal.aborted) this.#answerNow(publisherId, record)
    })
  }

  #answerNow(readerId: NodeId, record: RequestRecord): void {
    const nowMs = this.#modules.clock.monotonicMs()
    if (nowMs - (this.#answeredMs.get(readerId) ?? -Infinity) < pauseMs) return
    this.#answeredMs.set(readerId, nowMs)
    // Whoever asks goes on asking: what fails now is tried again then.
    this.#answer(readerId, record).catch(() => this.#answeredMs.delete(readerId))
  }

  async #answer(readerId: NodeId, { card: cardBytes, wanted }: RequestRecord): Promise<void> {
    const { readers, clock, opener, choice, known, signal } = this.#modules
    readers.changed(readerId)
    await readers.refresh()
    if (!readers.readersAt(clock.now()).includes(readerId)) return
    const card = await this.#checkedCard(readerId, cardBytes)
    if (card === undefined) return
    if (opener.isOpen) {
      await opener.epoch(signal)
      await opener.linkTo(card)
      return
    }
    if (choice.history === 'none') return
    const ids = wanted.map((id) => toBase64Url(id) as EpochId)
    const keys = ids.flatMap((id) => known.epochs(id).map(({ key }) => key))
    if (keys.length > 0) await this.seal(card, keys)
  }

  /** Seals keys of epochs to a reader. */
  async seal(card: Card, keys: readonly Uint8Array[]): Promise<void> {
    const { streamId, ciphers, crypto, keyPart, onPublished } = this.#modules
    const to = { userId: card.userId, publicKey: card.publicKey, cardHash: cardHash(card, crypto) }
    const record = await sealAnswer(streamId, to, keys)
    if (record !== undefined) onPublished(keyPart.publish(answerChain(ciphers, card.userId), record))
  }

  /** The card in a request, unless storage nodes have a newer one. Undefined when it is not the reader's. */
  async #checkedCard(readerId: NodeId, bytes: Uint8Array): Promise<Card | undefined> {
    const { crypto, cardsOf, signal } = this.#modules
    const found = await cardsOf([readerId], signal).then(
      (cards) => cards.get(readerId),
      () => undefined,
    )
    const sent = decodedCard(bytes)
    if (sent?.userId !== readerId || !isCardSignedByKey(sent, crypto)) return found
    return found === undefined ? sent : newerCard(found, sent)
  }
}

function decodedCard(bytes: Uint8Array): Card | undefined {
  try {
    return decodeCard(bytes)
  } catch {
    return undefined
  }
}
