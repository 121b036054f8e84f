import {
  linkChain,
  publisherKeyOf,
  readerTag,
  toHex,
  type Ciphers,
  type NodeId,
  type StreamId,
} from '@runnel/protocol'
import type { MessagePlace } from '../resend/wait-for-storage.ts'
import type { CardHolder, EpochKey } from './epoch-plan.ts'
import type { KeyPart } from './key-part.ts'
import type { Keyring } from './keyring.ts'
import { sealLinks, type Recipient } from './sealed-records.ts'

export interface ReaderLinksOptions {
  readonly streamId: StreamId
  readonly userId: NodeId
}

export interface ReaderLinksModules {
  readonly ciphers: Ciphers
  readonly keyPart: Pick<KeyPart, 'publish'>
  /** Which users may be linked now, as a reader or as a publisher that may not read. */
  readonly roleOf: (userId: NodeId) => 'reader' | 'publisher' | undefined
  readonly onPublished: (place: MessagePlace) => void
}

/** Links made together, before the first of them is published. */
const linksAtOnce = 256

/** The links from an opener's keyring: one for each user with a card, made once. */
export class ReaderLinks {
  readonly #options: ReaderLinksOptions
  readonly #modules: ReaderLinksModules
  /** Tags of those that have one. */
  readonly #linked = new Set<string>()
  #linking: Promise<void> = Promise.resolve()

  constructor(options: ReaderLinksOptions, modules: ReaderLinksModules) {
    this.#options = options
    this.#modules = modules
  }

  /** Links that another process of the user made. */
  add(tags: readonly string[]): void {
    for (const tag of tags) this.#linked.add(tag)
  }

  /** Makes links for those that have none; each begins with the key of the epoch. Resolves when they are published. */
  link(recipients: readonly Recipient[], keyring: Keyring, epoch: EpochKey): Promise<void> {
    // One lot after the other: each link takes a millisecond of CPU or more.
    const linked = this.#linking.then(async () => {
      const wanted = recipients.filter((one) => !this.#linked.has(this.#tag(one)))
      for (let i = 0; i < wanted.length; i += linksAtOnce)
        await this.#linkSome(wanted.slice(i, i + linksAtOnce), keyring, epoch)
    })
    this.#linking = linked.catch(() => {})
    return linked
  }

  /** Resolves when all links that were begun are published. */
  async settled(): Promise<void> {
    await this.#linking
  }

  async #linkSome(
    recipients: readonly Recipient[],
    keyring: Keyring,
    { key, commitment }: EpochKey,
  ): Promise<void> {
    const { ciphers, keyPart, roleOf, onPublished } = this.#modules
    const { streamId, userId } = this.#options
    // Who lost its permission meanwhile gets none.
    const secrets = recipients.flatMap((to) => {
      const role = roleOf(to.userId)
      if (role === undefined) return []
      const isForReader = role === 'reader'
      const secret = keyring.linkSecret(to.userId, to.cardHash)
      const given = isForReader ? key : publisherKeyOf(ciphers, key, to.userId)
      return [{ to, secret: { secret, commitment, key: given, isForReader } }]
    })
    const links = await sealLinks({ streamId, openerId: userId, keyringId: keyring.id }, secrets)
    for (const [i, { to }] of secrets.entries()) {
      const link = links[i]
      this.#linked.add(this.#tag(to))
      if (link !== undefined) onPublished(keyPart.publish(linkChain(ciphers, keyring.id, to.userId), link))
    }
  }

  #tag({ userId, cardHash }: CardHolder): string {
    return toHex(readerTag(this.#modules.ciphers, userId, cardHash))
  }
}
