import { storageError } from './errors.ts'
import type { MessageStore } from './store/message-store.ts'

/** A store that may take a while to open: until then everything throws STORE_FAILED. */
export class OpenedStore implements MessageStore {
  readonly #store: MessageStore
  #isOpen = false

  constructor(store: MessageStore) {
    this.#store = store
  }

  get location(): string {
    return this.#store.location
  }

  get contradictions(): number {
    return this.#store.contradictions
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  async open(): Promise<void> {
    await this.#store.open()
    this.#isOpen = true
  }

  async close(): Promise<void> {
    this.#isOpen = false
    await this.#store.close()
  }

  append: MessageStore['append'] = async (batches, delegations) => this.#opened().append(batches, delegations)
  delegationsOf: MessageStore['delegationsOf'] = async (batches) => this.#opened().delegationsOf(batches)
  read: MessageStore['read'] = async (range, options) => this.#opened().read(range, options)
  last: MessageStore['last'] = async (streamPartId, count, filter, signal) =>
    this.#opened().last(streamPartId, count, filter, signal)
  values: MessageStore['values'] = (streamPartId, options) => this.#opened().values(streamPartId, options)
  has: MessageStore['has'] = async (chain, place) => this.#opened().has(chain, place)
  prune: MessageStore['prune'] = async (streamPartId, limits) => this.#opened().prune(streamPartId, limits)
  usage: MessageStore['usage'] = async () => this.#opened().usage()
  getMark: MessageStore['getMark'] = async (name) => this.#opened().getMark(name)
  putCard: MessageStore['putCard'] = async (card) => this.#opened().putCard(card)
  cardsOf: MessageStore['cardsOf'] = async (userIds) => this.#opened().cardsOf(userIds)
  vouchFor: MessageStore['vouchFor'] = async (userId) => this.#opened().vouchFor(userId)
  cardCount: MessageStore['cardCount'] = async () => this.#opened().cardCount()
  pruneCards: MessageStore['pruneCards'] = async (maxCards) => this.#opened().pruneCards(maxCards)
  setMark: MessageStore['setMark'] = async (name, value) => this.#opened().setMark(name, value)

  #opened(): MessageStore {
    if (!this.#isOpen) throw storageError('STORE_FAILED', 'it is not open')
    return this.#store
  }
}
