import {
  chainCipher,
  ciphers,
  commitmentOf,
  isSameBytes,
  openBatch,
  publisherKeyOf,
  toHex,
  wrapKey,
  type KeyRecord,
  type MessageBatch,
  type NodeId,
} from '@runnel/protocol'
import { decodeKeyRecord } from '@runnel/protocol/key-records'
import { Keyring, keyringMaster } from './keyring.ts'
import { openAnswer, openLink } from './sealed-records.ts'
import { streamId, type KeyMessage, type TestUser } from './world.testkit.ts'

interface Signed {
  readonly publisherId: NodeId
  readonly chain: string
  readonly record: KeyRecord
}

/**
 * All that a user can learn of a stream's keys from records, its reading key and keys that it has had: it tries each of its secrets on
 * everything, whoever it is for. (Of fewer readers than make cohorts.)
 */
export class Secrets {
  readonly #user: TestUser
  readonly #epochs = new Map<string, Uint8Array>()
  readonly #publisherKeys: Uint8Array[] = []
  readonly #links: Uint8Array[] = []

  private constructor(user: TestUser) {
    this.#user = user
  }

  static async of(
    user: TestUser,
    records: readonly KeyMessage[],
    keys: Iterable<Uint8Array>,
  ): Promise<Secrets> {
    const secrets = new Secrets(user)
    for (const key of keys) secrets.#add(key)
    const all = records.map(({ message: { publisherId, messageChainId, content } }) => ({
      publisherId,
      chain: messageChainId,
      record: decodeKeyRecord(content),
    }))
    for (const one of all) await secrets.#unseal(one)
    for (let before = -1; before < secrets.#epochs.size;) {
      before = secrets.#epochs.size
      for (const { record } of all) secrets.#unwrap(record)
    }
    return secrets
  }

  opens(batch: MessageBatch): boolean {
    const { publisherId } = batch.chain
    const keys = [...this.#epochs.values()].map((key) => publisherKeyOf(ciphers, key, publisherId))
    return [...keys, ...this.#publisherKeys].some(
      (key) => openBatch(batch, chainCipher(ciphers, key, batch.chain)) !== undefined,
    )
  }

  #add(key: Uint8Array): void {
    this.#epochs.set(toHex(commitmentOf(ciphers, key)), key)
  }

  async #unseal({ publisherId, chain, record }: Signed): Promise<void> {
    const { readingKey, cardPrivateKey: privateKey } = this.#user
    const keys = [{ generation: 0, readingKey, privateKey }]
    if (record.kind === 'answer') for (const key of await openAnswer(streamId, record, keys)) this.#add(key)
    if (record.kind !== 'link') return
    const link = await openLink(
      { streamId, openerId: publisherId, readerId: this.#user.userId, chain },
      record,
      keys,
    )
    if (link === undefined) return
    this.#links.push(link.secret)
    if (link.key === undefined) return
    if (link.isForReader) this.#add(link.key)
    else this.#publisherKeys.push(link.key)
  }

  #unwrap(record: KeyRecord): void {
    if (record.kind === 'publishers')
      for (const { wrapped } of record.publishers)
        for (const link of this.#links)
          this.#publisherKeys.push(wrapKey(ciphers, link, 'wrapped publisher', record.commitment, wrapped))
    if (record.kind !== 'epoch') return
    const { commitment, own, readers, earlier } = record
    const master = keyringMaster(ciphers, this.#user.readingKey, streamId)
    this.#try(new Keyring({ master }, { ciphers }).own(commitment, own), commitment)
    for (const { wrapped } of readers)
      for (const link of this.#links)
        this.#try(wrapKey(ciphers, link, 'wrapped epoch', commitment, wrapped), commitment)
    const key = this.#epochs.get(toHex(commitment))
    if (key === undefined) return
    for (const { id, wrapped } of earlier) {
      const before = wrapKey(ciphers, key, 'earlier epoch', id, wrapped)
      if (isSameBytes(commitmentOf(ciphers, before).subarray(0, id.length), id)) this.#add(before)
    }
  }

  #try(key: Uint8Array, commitment: Uint8Array): void {
    if (isSameBytes(commitmentOf(ciphers, key), commitment)) this.#add(key)
  }
}
