import {
  buildBatch,
  ciphers,
  ContentType,
  EncryptionType,
  isRunnelError,
  signCard,
  toHex,
  type BuiltBatch,
  type Card,
  type Crypto,
  type EpochId,
  type Identity,
  type MessageDraft,
  type MessageRef,
  type NodeId,
  type Random,
  type StreamMessage,
  type StreamPartId,
} from '@runnel/protocol'
import { cardPublicKeyOf } from '../../../../packages/client/src/encryption/card-key.ts'
import { Encryption } from '../../../../packages/client/src/encryption/encryption.ts'
import { clientError } from '../../../../packages/client/src/errors.ts'
import { noPermissions } from '../../../../packages/client/src/registry/ports.ts'
import type { SealedStream } from './sealed-stream.ts'

/** Somebody whose card others can find. */
export interface SealedAccount {
  /** The user's, and the node's. */
  readonly identity: Identity
  readonly readingKey: Uint8Array
  readonly card: Card
}

/** An account with a key of its own for reading. */
export async function sealedAccount(
  identity: Identity,
  random: Random,
  crypto: Crypto,
): Promise<SealedAccount> {
  const readingKey = random.bytes(32)
  const publicKey = await cardPublicKeyOf(ciphers, readingKey)
  const { nodeId: userId } = identity
  const claim = { chainId: 0, userId, generation: 0, dateMs: cardDateMs, block: 0, publicKey }
  return { identity, readingKey, card: signCard(claim, crypto, identity) }
}

export interface SealedUserModules {
  readonly stream: SealedStream
  readonly account: SealedAccount
  readonly crypto: Crypto
  /** Of this process. */
  readonly random: Random
  joinKeyPart(): void
  leaveKeyPart(): void
  publish(id: StreamPartId, batch: BuiltBatch): void
  onSealed(message: StreamMessage, content: Uint8Array, sinceMs: number): void
  onOpened(message: StreamMessage, content: Uint8Array): void
}

const contentBytes = 100
/** One message in so many. */
const triedByStrangers = 10
/** Before any run begins. */
const cardDateMs = Date.UTC(2024, 0, 1)

/** What the client does for one user of an encrypted stream, in one process: seals what it publishes, opens what comes, passes keys on. */
export class SealedUser {
  readonly #modules: SealedUserModules
  readonly #encryption: Encryption
  readonly #closing = new AbortController()
  readonly #messageChainId: string
  readonly #unopened = new Set<StreamMessage>()
  #previous: MessageRef | undefined
  #published = 0
  #publishing: Promise<void> = Promise.resolve()

  constructor(modules: SealedUserModules) {
    const { stream, crypto, random, account } = modules
    const { identity, readingKey, card } = account
    const { signal } = this.#closing
    this.#modules = modules
    this.#messageChainId = toHex(random.bytes(10)).slice(2)
    const { clock } = stream
    this.#encryption = new Encryption({
      node: { publish: (batch) => this.#publishRecord(batch), waitForNeighbours: async () => {} },
      parts: {
        join: () => {
          modules.joinKeyPart()
          return () => modules.leaveKeyPart()
        },
        neighbourCount: () => 0,
      },
      history: {
        plan: async () => [],
        read: async function* (_plan, { publisherId, messageChainId, selection }) {
          if (selection.kind === 'last')
            yield stream.stored(publisherId, messageChainId).slice(-selection.count)
        },
      },
      user: { userId: identity.nodeId, signer: identity },
      cache: {
        getStream: async () => stream.info,
        permissionsOf: async (_, userId) => stream.rights.get(userId) ?? noPermissions,
      },
      permissionTable: async () => ({
        entries: [...stream.rights].map(([user, rights]) => ({ user, ...rights })),
        ...{ block: stream.block, lossBlock: stream.lossBlock },
      }),
      source: {
        ...{ onlyGeneration: undefined, isSilent: true },
        readingKey: async (generation) => {
          if (generation !== 0) throw clientError('READING_KEY_OTHER_GENERATION', identity.nodeId)
          return readingKey
        },
        signCard: async () => card,
      },
      directory: {
        put: async () => stream.cards.set(card.userId, card),
        cardsOf: async (ids) =>
          new Map(
            ids.flatMap((id) => {
              const found = stream.cards.get(id)
              return found === undefined ? [] : [[id, found] as const]
            }),
          ),
      },
      ...{ crypto, clock, random, signal },
      stored: async () => {},
      say: () => {},
    })
    stream.users.add(this)
  }

  get userId(): NodeId {
    return this.#modules.account.identity.nodeId
  }

  /** Of what it took, what it could not open so far. */
  get unopened(): Iterable<StreamMessage> {
    return this.#unopened
  }

  /** Whether this process has the key of an epoch, and can give it to others. */
  async hasKey(id: EpochId): Promise<boolean> {
    const { known } = await this.#encryption.stream(this.#modules.stream.info.id)
    return known.epochs(id).length > 0
  }

  /** Seals the next few messages, as a batch, and publishes them. */
  publish(messages: number): void {
    this.#modules.stream.begin()
    this.#publishing = this.#publishing.then(() => this.#publish(messages))
  }

  /** Reads from now on, as who subscribes. */
  attend(): void {
    this.#modules.stream.begin()
    void quietly(this.#encryption.attend(this.#modules.stream.info.id))
  }

  /** Keeps the stream's keys. */
  hold(): void {
    this.#modules.stream.begin()
    void quietly(this.#encryption.hold(this.#modules.stream.info.id))
  }

  received(message: StreamMessage): void {
    this.#unopened.add(message)
    // Who may not read tries now and then: looking for a key costs more than anything else.
    if (this.#reads || this.#unopened.size % triedByStrangers === 0) this.#try(message)
  }

  receivedRecord(message: StreamMessage): void {
    this.#modules.stream.begin()
    this.#encryption.receive(message)
  }

  told(user: NodeId): void {
    const { info, block } = this.#modules.stream
    this.#encryption.apply({ kind: 'permissions', streamId: info.id, user, block })
  }

  /** Tries again to open what it could not; who may not read, only the last of each publisher. */
  retry(): void {
    const last = new Map([...this.#unopened].map((message) => [message.publisherId, message]))
    for (const message of this.#reads ? this.#unopened : last.values()) this.#try(message)
  }

  get #reads(): boolean {
    return this.#modules.stream.reads(this.userId)
  }

  #try(message: StreamMessage): void {
    this.#modules.stream.begin()
    void this.#open(message)
  }

  /** Nothing is stored, or told to anybody. Idempotent. */
  stop(): void {
    this.#modules.stream.users.delete(this)
    this.#closing.abort()
    this.#encryption.close()
  }

  #publishRecord(batch: BuiltBatch): boolean {
    if (this.#closing.signal.aborted) return false
    this.#modules.stream.store(batch.bytes)
    this.#modules.publish(this.#modules.stream.keyPart, batch)
    return true
  }

  async #publish(count: number): Promise<void> {
    const { stream, crypto, account, publish, onSealed } = this.#modules
    const { identity } = account
    const { signal } = this.#closing
    const ids = { publisherId: identity.nodeId, messageChainId: this.#messageChainId }
    const chain = { streamId: stream.info.id, partition: 0, ...ids }
    const drafts = this.#drafts(count)
    const sinceMs = stream.clock.monotonicMs()
    const messages = drafts.map((draft) => ({ ...draft }))
    const sealed = await quietly(Promise.resolve(this.#encryption.step.seal(messages, { chain, signal })))
    if (sealed === undefined || signal.aborted) return
    const batch = buildBatch({ chain, messages }, crypto, identity)
    const { timestamp, sequenceNumber } = drafts.at(-1) as MessageDraft
    this.#previous = { timestamp, sequenceNumber }
    this.#published += count
    for (const [i, { content }] of drafts.entries())
      onSealed({ ...chain, ...(messages[i] as MessageDraft) }, content, sinceMs)
    publish(stream.part, batch)
  }

  #drafts(count: number): MessageDraft[] {
    let previous = this.#previous
    return Array.from({ length: count }, (_, i) => {
      const content = new Uint8Array(contentBytes)
      new DataView(content.buffer).setUint32(0, this.#published + i)
      const place = { timestamp: this.#modules.stream.clock.now(), sequenceNumber: this.#published + i }
      const draft = {
        ...{ ...place, previous, content, contentType: ContentType.binary },
        ...{ encryptionType: EncryptionType.none, groupKeyId: '' },
      }
      previous = place
      return draft
    })
  }

  async #open(message: StreamMessage): Promise<void> {
    const opened = await quietly(Promise.resolve().then(() => this.#encryption.step.open(message)))
    if (opened === undefined || !this.#unopened.delete(message)) return
    this.#modules.onOpened(message, opened.content)
  }
}

/** What a user is told of is no fault of the code. */
async function quietly<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (isRunnelError(error)) return undefined
    throw error
  }
}
