import {
  answerChain,
  cardProblem,
  decodeCard,
  isCardSignedByKey,
  newerCard,
  readerHint,
  toBase64Url,
  toHex,
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
import { recipientOf } from './card-holder.ts'
import type { FoundRecord, KeyPart } from './key-part.ts'
import type { KnownKeys } from './known-keys.ts'
import type { Opener } from './opener.ts'
import { OthersAnswers } from './others-answers.ts'
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
  readonly opener: Pick<Opener, 'isOpen' | 'current' | 'epoch' | 'linkTo'>
  readonly cardsOf: (users: readonly NodeId[], signal: AbortSignal) => Promise<ReadonlyMap<NodeId, Card>>
  readonly onPublished: (place: MessagePlace) => void
  readonly signal: AbortSignal
}

/** The most time that others are given to answer first. */
const maxDelayMs = 500
/** Shortest time between two answers to one reader. */
const pauseMs = 5_000
/** Readers for whom the time of the last answer is remembered. */
const maxReaders = 2_000

/** Answers readers that ask for keys: with a link where this process opens epochs, and with the keys it knows itself. */
export class AnswerDesk {
  readonly #modules: AnswerDeskModules
  /** When a request of a reader was taken, by the monotonic clock: the next one is after a pause. */
  readonly #takenMs = new LRU<number>(maxReaders)
  readonly #others = new OthersAnswers()
  /** Those under way. */
  #answers: Promise<void> = Promise.resolve()
  #requests = 0

  constructor(modules: AnswerDeskModules) {
    this.#modules = modules
  }

  /** Requests of readers so far. */
  get requests(): number {
    return this.#requests
  }

  /** Resolves when all answers that were begun are published. */
  async settled(): Promise<void> {
    await this.#answers
  }

  /** A record came: a request, or somebody else's answer to one. */
  receive({ publisherId, record }: FoundRecord): void {
    const { ciphers, clock, random, opener, signal } = this.#modules
    const nowMs = clock.monotonicMs()
    const hintOf = (readerId: NodeId) => toHex(readerHint(ciphers, readerId))
    if (record.kind === 'link') this.#others.answered(toHex(record.hint), publisherId)
    if (record.kind === 'answer') this.#others.answered(hintOf(record.readerId), publisherId)
    if (record.kind === 'request') this.#requests++
    if (record.kind !== 'request' || nowMs - (this.#takenMs.get(publisherId) ?? -Infinity) < pauseMs) return
    this.#takenMs.set(publisherId, nowMs)
    if (opener.isOpen) return this.#answerNow(publisherId, record)
    const hint = hintOf(publisherId)
    this.#others.asked(hint, nowMs)
    clock.schedule(random.next() * maxDelayMs, () => {
      // If it asks again, the answer was of no use.
      if (this.#others.isAnswered(hint)) this.#takenMs.delete(publisherId)
      else if (!signal.aborted) this.#answerNow(publisherId, record)
    })
  }

  /** What a user may, or, for undefined, anybody, is something else now: one who was refused just now need not wait before it is answered. */
  permissionsChanged(userId: NodeId | undefined): void {
    if (userId === undefined) this.#takenMs.clear()
    else this.#takenMs.delete(userId)
  }

  #answerNow(readerId: NodeId, record: RequestRecord): void {
    // Whoever asks goes on asking: what fails now is tried again then.
    const answered = this.#answer(readerId, record).catch(() => this.#takenMs.delete(readerId))
    this.#answers = Promise.all([this.#answers, answered]).then(() => {})
  }

  async #answer(readerId: NodeId, { card: cardBytes, wanted }: RequestRecord): Promise<void> {
    const { opener, known, readers, clock, signal } = this.#modules
    const ids = wanted.map((id) => toBase64Url(id) as EpochId)
    if (!opener.isOpen && ids.every((id) => known.epochs(id).length === 0)) return
    await this.#lookUp(readerId)
    const nowMs = clock.now()
    // A publisher that may not read gets a link from the key holder.
    const mayPublish = opener.isOpen && readers.publishes(readerId, nowMs)
    if (!mayPublish && !readers.reads(readerId, nowMs)) return
    const card = await this.#checkedCard(readerId, cardBytes)
    if (card === undefined) return
    if (opener.isOpen) {
      await opener.epoch(signal)
      await opener.linkTo(card, signal)
    }
    const epochs = ids.filter((id) => this.#mayGive(id)).flatMap((id) => known.epochs(id))
    const keys = epochs.filter(({ createdMs }) => readers.mayOpen(readerId, createdMs)).map(({ key }) => key)
    if (keys.length > 0) await this.seal(card, keys)
  }

  /** Without history an opener gives what is in use now, and others nothing. */
  #mayGive(id: EpochId): boolean {
    const { choice, opener } = this.#modules
    return choice.history !== 'none' || (opener.isOpen && opener.current?.id === id)
  }

  /** The registry may not have told yet that it may read, or longer than before. */
  async #lookUp(readerId: NodeId): Promise<void> {
    const { readers } = this.#modules
    await readers.refresh()
    if (readers.mayOpen(readerId)) return
    readers.doubt(readerId)
    await readers.refresh()
  }

  /** Seals keys of epochs to a reader. */
  async seal(card: Card, keys: readonly Uint8Array[]): Promise<void> {
    const { streamId, ciphers, crypto, keyPart, onPublished } = this.#modules
    const record = await sealAnswer(streamId, recipientOf(card, crypto), keys)
    if (record !== undefined) onPublished(keyPart.publish(answerChain(ciphers, card.userId), record))
  }

  /** The card in a request, unless storage nodes have a newer one. Undefined when it is not the reader's. */
  async #checkedCard(readerId: NodeId, bytes: Uint8Array): Promise<Card | undefined> {
    const { crypto, clock, cardsOf, signal } = this.#modules
    const found = await cardsOf([readerId], signal).then(
      (cards) => cards.get(readerId),
      () => undefined,
    )
    const sent = decodedCard(bytes)
    if (sent?.userId !== readerId || !isCardSignedByKey(sent, crypto)) return found
    if (cardProblem(sent, { chainId: undefined, wallMs: clock.now() }) !== undefined) return found
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
