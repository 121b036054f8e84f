import {
  cardHash,
  ciphers,
  ContentType,
  createIdentity,
  buildBatch,
  compareRefs,
  decodeBatch,
  deriveKey,
  EncryptionType,
  loadCrypto,
  seededRandom,
  signCard,
  toHex,
  toStreamId,
  type BuiltBatch,
  type Card,
  type Clock,
  type Identity,
  type MessageBatch,
  type NodeId,
  type StreamMessage,
} from '@runnel/protocol'
import { VirtualClock } from '@runnel/transport'
import { clientError } from '../errors.ts'
import { MessageClock } from '../publish/message-clock.ts'
import { noPermissions, type Permissions, type StreamInfo } from '../registry/ports.ts'
import type { MessagePlace } from '../resend/wait-for-storage.ts'
import { cardPrivateKeyOf, cardPublicKeyOf } from './card-key.ts'
import { Encryption } from './encryption.ts'
import type { ReadingKeySource } from './ports.ts'

export const crypto = await loadCrypto()
export const streamId = toStreamId(`0x${'d'.repeat(40)}/secret`)
const chainId = 31_337
/** How long a record takes from one process to another. */
const floodMs = 5

/** Somebody with one reading key. */
export interface TestUser {
  readonly identity: Identity
  readonly userId: NodeId
  readonly readingKey: Uint8Array
  readonly cardPrivateKey: Uint8Array
  readonly card: Card
  readonly cardHash: Uint8Array
}

const users = new Map<string, Promise<TestUser>>()

/** The same user each time. */
export function userOf(name: string): Promise<TestUser> {
  const made = async (): Promise<TestUser> => {
    const identity = createIdentity(seededRandom(`user ${name}`).bytes(32), crypto)
    const userId = identity.nodeId
    const readingKey = deriveKey(ciphers, seededRandom(`reading ${name}`).bytes(32), 'reading key')
    const publicKey = await cardPublicKeyOf(ciphers, readingKey)
    const claim = { chainId, userId, generation: 0, dateMs: Date.UTC(2024, 0, 1), block: 0, publicKey }
    const card = signCard(claim, crypto, identity)
    const cardPrivateKey = cardPrivateKeyOf(ciphers, readingKey)
    return { identity, userId, readingKey, cardPrivateKey, card, cardHash: cardHash(card, crypto) }
  }
  const user = users.get(name) ?? made()
  users.set(name, user)
  return user
}

/** A record that was published, and whether storage nodes have it. */
export interface KeyMessage {
  readonly message: StreamMessage
  readonly isStored: boolean
}

/** What goes wrong between processes and storage nodes; nothing by default. */
export interface Weather {
  /** Records are stored, and reach nobody. */
  isDeaf: boolean
  /** Records reach those who are there, and no storage node. */
  isUnstored: boolean
  /** Storage nodes answer, and have nothing. */
  isWithheld: boolean
  /** Storage nodes do not answer when they are asked for records. */
  isSilent: boolean
  /** Storage nodes refuse those who may neither read nor publish; otherwise they give all to everybody, so that only keys keep secrets. */
  isStrict: boolean
  /** Storage nodes refuse everybody: they have not heard of permissions yet, or lie. */
  isRefusing: boolean
  /** Storage nodes do not answer when they are asked for cards. */
  isCardless: boolean
  /** Records take so much longer. */
  delayMs: number
  /** The registry does not answer, and tells nothing. */
  isOutage: boolean
  /** The registry does not say what the stream is now. */
  isStreamless: boolean
}

/** A stream, its registry, its key part with a storage node, and the cards of users: in one process and in virtual time. */
export class World {
  readonly clock = new VirtualClock({ startMs: Date.UTC(2031, 0, 1) })
  readonly weather: Weather = {
    ...{ isDeaf: false, isUnstored: false, isWithheld: false, isSilent: false, isCardless: false },
    ...{ delayMs: 0, isOutage: false, isStreamless: false, isStrict: false, isRefusing: false },
  }
  readonly processes = new Set<TestProcess>()
  readonly rights = new Map<NodeId, Permissions>()
  /** Of the registry's chain: each change is in a block of its own. */
  block = 0
  /** The last in which a user lost the permission to read or to grant. */
  lossBlock = 0
  readonly cards = new Map<NodeId, Card>()
  /** How often storage nodes refused somebody. */
  refusals = 0
  /** All records that were ever published. */
  readonly records: KeyMessage[] = []
  stream: StreamInfo
  /** What storage nodes say when they are asked whether they have records. */
  confirm: (place: MessagePlace) => Promise<void> = async () => {}
  readonly #newest = new Map<string, StreamMessage>()

  constructor(encryption: object = {}) {
    const metadata = JSON.stringify({ encryption })
    this.stream = { id: streamId, partitions: 1, metadata, trackers: [], createdMs: 0 }
  }

  start(user: TestUser, options: TestProcessOptions = {}): TestProcess {
    const process = new TestProcess(this, user, options)
    this.processes.add(process)
    return process
  }

  setRights(userId: NodeId, rights: Partial<Permissions>): void {
    const before = this.rights.get(userId) ?? noPermissions
    const now = { ...noPermissions, ...rights }
    this.rights.set(userId, now)
    this.block++
    const lostRead = before.subscribeUntilMs > 0 && now.subscribeUntilMs === 0
    if (lostRead || (before.grant && !now.grant)) this.lossBlock = this.block
    const told = { user: userId, block: this.block, permissions: now }
    const change = { kind: 'permissions', streamId, ...told } as const
    if (!this.weather.isOutage) for (const process of this.processes) process.tell(change)
  }

  setOutage(isOutage: boolean): void {
    const isOver = this.weather.isOutage && !isOutage
    this.weather.isOutage = isOutage
    const outage = isOutage ? clientError('CHAIN_UNREACHABLE') : undefined
    for (const process of this.processes) process.encryption.reached(outage)
    if (isOver) for (const process of this.processes) process.tell({ kind: 'unknown' })
  }

  publish(from: TestProcess, batch: BuiltBatch): void {
    if (!this.processes.has(from)) return
    const { isDeaf, isUnstored, delayMs } = this.weather
    const [message] = batch.messages
    if (message === undefined) throw new Error('no message')
    this.records.push({ message, isStored: !isUnstored })
    if (!isUnstored) this.#store(message)
    if (isDeaf) return
    for (const to of this.processes)
      if (to !== from)
        this.clock.schedule(floodMs + delayMs, () => {
          if (to.isJoined) to.encryption.receive(message)
        })
  }

  /** What storage nodes have: the newest record of a chain, or all records, the oldest first. */
  stored(publisherId: NodeId | undefined, messageChainId: string | undefined): readonly StreamMessage[] {
    if (this.weather.isWithheld) return []
    if (publisherId === undefined && messageChainId === undefined)
      return this.records.flatMap(({ message, isStored }) => (isStored ? [message] : [])).sort(compareRefs)
    return [...this.#newest.values()]
      .filter(
        (one) =>
          (publisherId === undefined || one.publisherId === publisherId) &&
          (messageChainId === undefined || one.messageChainId === messageChainId),
      )
      .sort(compareRefs)
  }

  /** Throws RESEND_DENIED. */
  admit(userId: NodeId): void {
    const { publishUntilMs, subscribeUntilMs } = this.rights.get(userId) ?? noPermissions
    const mayAsk = !this.weather.isStrict || Math.max(publishUntilMs, subscribeUntilMs) > this.clock.now()
    if (mayAsk && !this.weather.isRefusing) return
    this.refusals++
    throw clientError('RESEND_DENIED')
  }

  /** Storage nodes lose chains. */
  forget(isLost: (messageChainId: string) => boolean): void {
    for (const [name, { messageChainId }] of this.#newest)
      if (isLost(messageChainId)) this.#newest.delete(name)
  }

  /** Lets time pass until a promise is settled. */
  async run<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false
    const settled = () => void (isSettled = true)
    promise.then(settled, settled)
    while (!isSettled) {
      await turns(4)
      if (!isSettled) this.clock.step()
    }
    return promise
  }

  async pass(ms: number): Promise<void> {
    const untilMs = this.clock.monotonicMs() + ms
    await turns(4)
    while (this.clock.step(untilMs)) await turns(4)
    this.clock.advanceTo(untilMs)
  }

  /** Everything that was begun is done, answers to requests as well. */
  async settle(): Promise<void> {
    const { signal } = new AbortController()
    for (const { encryption } of this.processes) await this.run(encryption.finish(signal))
    await this.pass(700)
  }

  #store(message: StreamMessage): void {
    const name = `${message.publisherId} ${message.messageChainId}`
    const known = this.#newest.get(name)
    if (known === undefined || compareRefs(known, message) < 0) this.#newest.set(name, message)
  }
}

/** The event loop goes round so often. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

interface TestProcessOptions {
  readonly skewMs?: number
  readonly seed?: string
  /** What is different with the user's reading keys. */
  readonly source?: Partial<ReadingKeySource>
}

/** One process of a user. */
export class TestProcess {
  readonly user: TestUser
  readonly clock: Clock & { skewMs: number }
  readonly encryption: Encryption
  /** What the registry told of whom. */
  readonly told: Map<NodeId, Permissions>
  readonly news: string[] = []
  isJoined = false
  readonly #world: World
  readonly #closing = new AbortController()
  readonly #messageClock = new MessageClock({ maxBehindMs: 0 })
  readonly #messageChainId: string

  constructor(world: World, user: TestUser, { skewMs = 0, seed, source }: TestProcessOptions) {
    this.#world = world
    this.user = user
    this.told = new Map(world.rights)
    const random = seededRandom(seed ?? `${world.records.length} ${world.clock.monotonicMs()}`)
    this.#messageChainId = toHex(random.bytes(10)).slice(2)
    const time = world.clock
    this.clock = {
      skewMs,
      now: () => time.now() + this.clock.skewMs,
      monotonicMs: () => time.monotonicMs(),
      schedule: (delayMs, fn) => time.schedule(delayMs, fn),
      endOfTurn: (fn) => void setImmediate(fn),
    }
    this.encryption = new Encryption({
      node: { publish: (batch) => (world.publish(this, batch), true), waitForNeighbours: async () => {} },
      parts: {
        join: () => {
          this.isJoined = true
          return () => (this.isJoined = false)
        },
        neighbourCount: () => 0,
      },
      history: {
        plan: async () => [],
        read: async function* (_plan, { publisherId, messageChainId, selection }) {
          if (world.weather.isSilent) throw clientError('RESEND_FAILED')
          world.admit(user.userId)
          if (selection.kind === 'last')
            yield world.stored(publisherId, messageChainId).slice(-selection.count)
        },
      },
      user: { userId: user.userId, signer: user.identity },
      cache: {
        getStream: async () => {
          if (world.weather.isStreamless) throw clientError('CHAIN_UNREACHABLE')
          return world.stream
        },
        permissionsOf: async (_, userId) => this.#ask(() => world.rights.get(userId) ?? noPermissions),
      },
      permissionTable: async () =>
        this.#ask(() => ({
          entries: [...world.rights].map(([user, rights]) => ({ user, ...rights })),
          ...{ block: world.block, lossBlock: world.lossBlock },
        })),
      source: { ...sourceOf(user), ...source },
      directory: {
        put: async (card) => world.cards.set(card.userId, card),
        cardsOf: async (ids) => {
          if (world.weather.isCardless) throw clientError('CARDS_UNAVAILABLE')
          return new Map(
            ids.flatMap((id) => (world.cards.has(id) ? [[id, world.cards.get(id) as Card]] : [])),
          )
        },
      },
      ...{ crypto, clock: this.clock, random, signal: this.#closing.signal },
      stored: async (places) => {
        for (const place of places) await world.confirm(place)
      },
      say: (_, news) => void this.news.push('isStopped' in news && news.isStopped ? 'stopped' : news.state),
    })
  }

  tell(change: Parameters<Encryption['apply']>[0]): void {
    for (const [userId, rights] of this.#world.rights) this.told.set(userId, rights)
    this.encryption.apply(change)
  }

  /** As far as it was told, and by its own clock. */
  reads(userId: NodeId): boolean {
    return (this.told.get(userId)?.subscribeUntilMs ?? 0) > this.clock.now()
  }

  /** Seals a message. */
  async publish(content: Uint8Array): Promise<MessageBatch> {
    const { userId: publisherId, identity } = this.user
    const chain = { streamId, partition: 0, publisherId, messageChainId: this.#messageChainId }
    const ref = this.#messageClock.next(this.#messageClock.timestampFor(undefined, this.clock.now()))
    const draft = { ...ref, previous: undefined, contentType: ContentType.binary, content }
    const sealed = await this.encryption.step.seal(
      [{ ...draft, encryptionType: EncryptionType.none, groupKeyId: '' }],
      { chain, signal: this.#closing.signal },
    )
    const messages = sealed.map((one) => ({ ...draft, ...one }))
    return decodeBatch(buildBatch({ chain, messages }, crypto, identity).bytes)
  }

  /** Opens a message. */
  async open(batch: MessageBatch): Promise<Uint8Array> {
    const [message] = batch.messages
    if (message === undefined) throw new Error('no message')
    return (await this.encryption.step.open({ ...message, batch })).content
  }

  /** Nothing is stored, or told to anybody. */
  crash(): void {
    this.#world.processes.delete(this)
    this.#closing.abort()
    this.encryption.close()
  }

  /** Its answer takes a turn of the event loop. */
  async #ask<T>(answer: () => T): Promise<T> {
    await turns(1)
    if (this.#world.weather.isOutage) throw clientError('CHAIN_UNREACHABLE')
    return answer()
  }
}

function sourceOf({ userId, readingKey, card }: TestUser): ReadingKeySource {
  return {
    onlyGeneration: undefined,
    isSilent: true,
    readingKey: async (generation) => {
      if (generation !== 0) throw clientError('READING_KEY_OTHER_GENERATION', userId)
      return readingKey
    },
    signCard: async () => card,
  }
}
