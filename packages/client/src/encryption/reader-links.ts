import { bytesOfEpochId, publisherKeyOf, type Ciphers, type NodeId, type StreamId } from '@runnel/protocol'
import type { MessagePlace } from '../resend/wait-for-storage.ts'
import { tagTextOf, type CardHolder, type Recipient } from './card-holder.ts'
import type { EpochKey } from './epoch-plan.ts'
import type { KeyPart } from './key-part.ts'
import type { Keyring } from './keyring.ts'
import { sealLinks } from './sealed-records.ts'

export interface ReaderLinksOptions {
  readonly streamId: StreamId
  readonly userId: NodeId
}

export interface ReaderLinksModules {
  readonly ciphers: Ciphers
  readonly keyPart: Pick<KeyPart, 'publish'>
  /** Which users may be linked now, beginning with that epoch: as a reader, or as a publisher that may not read. */
  readonly roleOf: (userId: NodeId, epoch: EpochKey) => Role | undefined
  readonly onPublished: (place: MessagePlace) => void
  /** Resolves when what was published is stored; false when that cannot be waited for. */
  readonly confirmed: () => Promise<boolean>
}

type Role = 'reader' | 'publisher'

/** Links made together, before the first of them is published. More are published when these are stored: nobody has room for all at once. */
const linksAtOnce = 256

/** The links from an opener's keyring: one for each user with a card, made once. */
export class ReaderLinks {
  readonly #options: ReaderLinksOptions
  readonly #modules: ReaderLinksModules
  /** By the tags of those that have one: as what. */
  readonly #linked = new Map<string, Role>()
  #linking: Promise<void> = Promise.resolve()

  constructor(options: ReaderLinksOptions, modules: ReaderLinksModules) {
    this.#options = options
    this.#modules = modules
  }

  /** Links of readers that another process of the user made. */
  add(tags: readonly string[]): void {
    for (const tag of tags) this.#linked.set(tag, 'reader')
  }

  /** Makes the link of somebody who asks, and so may not have found the one that was made. Resolves when it is published. */
  linkAgain(recipient: Recipient, keyring: Keyring, epoch: EpochKey): Promise<void> {
    const tag = this.#tag(recipient)
    if (this.#linked.get(tag) === this.#modules.roleOf(recipient.userId, epoch)) this.#linked.delete(tag)
    return this.link([recipient], keyring, epoch)
  }

  /**
   * Makes links for those that have none; each begins with the key of the epoch, unless the epoch's own records have that for all of them.
   * Resolves when they are published.
   */
  link(
    recipients: readonly Recipient[],
    keyring: Keyring,
    epoch: EpochKey,
    { isCovered = false }: { readonly isCovered?: boolean } = {},
  ): Promise<void> {
    const { roleOf } = this.#modules
    // One lot after the other: each link takes a millisecond of CPU or more.
    const linked = this.#linking.then(async () => {
      // A reader's link serves a publisher as well, and opens what was before.
      const wanted = recipients.filter((one) => {
        const known = this.#linked.get(this.#tag(one))
        return known !== 'reader' && known !== roleOf(one.userId, epoch)
      })
      let isStored = true
      for (let i = 0; i < wanted.length; i += linksAtOnce) {
        if (i > 0) isStored &&= await this.#modules.confirmed()
        await this.#linkSome(wanted.slice(i, i + linksAtOnce), keyring, epoch, isCovered)
      }
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
    epoch: EpochKey,
    isCovered: boolean,
  ): Promise<void> {
    const epochId = bytesOfEpochId(epoch.id)
    const { ciphers, keyPart, roleOf, onPublished } = this.#modules
    const { streamId, userId } = this.#options
    // Who lost its permission gets none, nor who loses it while links are made.
    const secrets = recipients.flatMap((to) => {
      const role = roleOf(to.userId, epoch)
      if (role === undefined) return []
      const isForReader = role === 'reader'
      const secret = keyring.linkSecret(to.userId, to.cardHash)
      const own = isForReader ? epoch.key : publisherKeyOf(ciphers, epoch.key, to.userId)
      return [{ to, role, secret: { secret, epochId, key: isCovered ? undefined : own, isForReader } }]
    })
    const links = await sealLinks({ streamId, openerId: userId, keyringId: keyring.id }, secrets, ciphers)
    for (const [i, { to, role }] of secrets.entries()) {
      const link = links[i]
      if (roleOf(to.userId, epoch) !== role) continue
      if (link !== undefined) onPublished(keyPart.publish(link.chain, link.record))
      this.#linked.set(this.#tag(to), role)
    }
  }

  #tag(holder: CardHolder): string {
    return tagTextOf(holder, this.#modules.ciphers)
  }
}
