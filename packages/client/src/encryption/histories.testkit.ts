import { toHex, type MessageBatch, type NodeId } from '@runnel/protocol'
import { reasonOf } from '../errors.ts'
import type { KnownKeys } from './known-keys.ts'
import { clockToleranceMs } from './reader-set.ts'
import { Secrets } from './secrets.testkit.ts'
import { streamId, userOf, World, type TestProcess, type TestUser, type Weather } from './world.testkit.ts'

/** One step of a history; numbers choose among what there is. */
export type Step =
  | {
      readonly kind: 'grant'
      readonly user: number
      readonly as: 'reader' | 'writer' | 'both'
      readonly forMs: number
    }
  | { readonly kind: 'revoke' | 'card'; readonly user: number }
  | { readonly kind: 'share'; readonly user: number }
  | { readonly kind: 'start'; readonly user: number; readonly skewMs: number }
  | { readonly kind: 'crash' | 'rotate' | 'read'; readonly process: number }
  | { readonly kind: 'publish'; readonly process: number }
  | { readonly kind: 'clock'; readonly process: number; readonly byMs: number }
  | { readonly kind: 'pass'; readonly ms: number }
  /** The owner, the key holder where there is one, may grant or not. */
  | { readonly kind: 'hold'; readonly mayGrant: boolean }
  | { readonly kind: 'weather'; readonly weather: Partial<Weather> }

export interface History {
  readonly history: 'all' | 'none'
  readonly hasHolder: boolean
  /** Others go on at once, or wait until what was begun is done. */
  readonly steps: readonly { readonly step: Step; readonly isQuick: boolean }[]
}

interface Published {
  readonly batch: MessageBatch
  readonly at: number
  /** Could read neither before nor after it was sealed, as far as its publisher could know. */
  readonly strangers: ReadonlySet<NodeId>
  /** Could read, and its publisher knew. */
  readonly readers: ReadonlySet<NodeId>
}

/** Keys that the processes of each user came to know. */
export type Held = ReadonlyMap<KnownKeys, readonly Uint8Array[]>

const content = new TextEncoder().encode('a secret')
/** How far clocks may be ahead or behind, and the dates of epochs ahead. */
const maxSkewMs = 60_000
const names = ['owner', 'publisher', 'reader', 'second reader', 'writer', 'second writer']

/** Lives through a history, and remembers what may be opened by whom. */
export class Life {
  readonly world: World
  readonly users: readonly TestUser[]
  readonly published: Published[] = []
  readonly #held: Held
  readonly #processOf = new Map<KnownKeys, TestProcess>()
  readonly #history: History
  readonly #grants = new Map<NodeId, number>()
  /** How many records there were when a user's card came. */
  readonly #cardAt = new Map<NodeId, number>()
  #at = 0
  #hasLost = false

  private constructor(history: History, users: readonly TestUser[], held: Held) {
    this.#history = history
    this.users = users
    this.#held = held
    const [owner] = users
    this.world = new World({
      history: history.history,
      ...(history.hasHolder ? { keyHolder: owner?.userId } : {}),
    })
  }

  static async begin(history: History, held: Held): Promise<Life> {
    const life = new Life(history, await Promise.all(names.map(userOf)), held)
    const { world, users } = life
    for (const [i, user] of users.entries()) {
      const { userId } = user
      // Two have no card yet.
      if (i % 3 !== 2) life.#putCard(user)
      if (i < 2)
        world.rights.set(userId, { ...{ edit: true, delete: true, grant: i === 0 }, ...forEver('both') })
    }
    for (const user of users.slice(0, 2)) await life.#start(user, 0)
    return life
  }

  async take({ step, isQuick }: History['steps'][number]): Promise<void> {
    this.#at++
    const { world } = this
    const process = 'process' in step ? pick([...world.processes], step.process) : undefined
    // The owner keeps its permissions.
    const user = 'user' in step ? pick(this.users.slice(1), step.user) : undefined
    switch (step.kind) {
      case 'grant':
        if (user !== undefined) this.#grant(user, step)
        break
      case 'revoke':
        if (user !== undefined) world.setRights(user.userId, {})
        break
      case 'card':
        if (user !== undefined) this.#putCard(user)
        break
      case 'share':
        if (user !== undefined) await this.#share(user)
        break
      case 'start':
        if (world.processes.size < 7) await this.#start(pick(this.users, step.user) as TestUser, step.skewMs)
        break
      case 'crash':
        process?.crash()
        break
      case 'rotate':
        if (process !== undefined && this.#may(process, 'publishUntilMs'))
          await this.#quietly(rotate(process))
        break
      case 'read':
        if (process !== undefined) await this.#read(process, step.process)
        break
      case 'publish':
        if (process !== undefined) await this.#publish(process)
        break
      case 'clock':
        if (process !== undefined)
          process.clock.skewMs = Math.max(-maxSkewMs, Math.min(maxSkewMs, process.clock.skewMs + step.byMs))
        break
      case 'pass':
        await world.pass(step.ms)
        break
      case 'hold':
        world.setRights((this.users[0] as TestUser).userId, { ...forEver('both'), grant: step.mayGrant })
        break
      case 'weather':
        this.#setWeather(step.weather)
    }
    if (!isQuick) await world.settle()
  }

  /** Messages that somebody can open who must not. */
  async leaks(): Promise<readonly string[]> {
    const found: string[] = []
    for (const user of this.users) {
      const secrets = await this.#secretsOf(user, true)
      for (const { batch, at, strangers } of this.published) {
        const { publisherId } = batch.chain
        if (publisherId === user.userId || !strangers.has(user.userId)) continue
        const grantedAt = this.#grants.get(user.userId) ?? -1
        const isGivenHistory = this.#history.history === 'all' && grantedAt >= at
        if (!isGivenHistory && secrets.opens(batch))
          found.push(`${this.#name(user)} opens what ${publisherId} published at ${at}`)
      }
    }
    return found
  }

  /** Messages that somebody cannot open who must. */
  async unread(): Promise<readonly string[]> {
    const { world } = this
    this.#setWeather({
      ...{ isDeaf: false, isUnstored: false, isWithheld: false, isSilent: false, isCardless: false },
      ...{ delayMs: 0, isOutage: false },
    })
    await world.settle()
    for (const process of world.processes) process.clock.skewMs = 0
    const readers = this.users.filter(({ userId }) => this.#isReader(userId, maxSkewMs))
    const online = [...world.processes]
    for (const user of readers) this.#putCard(user)
    for (const process of [...world.processes])
      if (this.#may(process, 'publishUntilMs')) await this.#publish(process)
    await world.settle()
    const found: string[] = []
    for (const user of readers) {
      const process = await this.#start(user, 0)
      const stored = await this.#secretsOf(user, false)
      for (const { batch, at, readers: then } of this.published) {
        const isThere = stored.opens(batch) || this.#isAnswered(batch, process)
        const isMissed =
          !this.#hasLost &&
          this.#isOnline(batch, online) &&
          then.has(user.userId) &&
          this.#isNamed(user, batch)
        if (!isThere && !isMissed) continue
        const isOpen = await world.run(process.open(batch).then(isContent, reasonOf))
        // A permission may have ended meanwhile.
        if (isOpen !== true && this.#isReader(user.userId, maxSkewMs))
          found.push(`${this.#name(user)} cannot open ${at}: ${isOpen}`)
      }
    }
    return found
  }

  end(): void {
    for (const process of [...this.world.processes]) process.crash()
  }

  #grant({ userId }: TestUser, { as, forMs }: Extract<Step, { kind: 'grant' }>): void {
    const untilMs = forMs === 0 ? Infinity : this.world.clock.now() + forMs
    this.world.setRights(userId, forEver(as, untilMs))
    if (as !== 'writer') this.#grants.set(userId, this.#at)
  }

  #putCard({ userId, card }: TestUser): void {
    if (!this.world.cards.has(userId)) this.#cardAt.set(userId, this.world.records.length)
    this.world.cards.set(userId, card)
  }

  async #share({ userId }: TestUser): Promise<void> {
    const [owner] = this.users
    const process = [...this.world.processes].find(({ user }) => user === owner)
    if (process !== undefined && this.#isReader(userId))
      await this.#quietly(process.encryption.share(this.world.stream.id, userId))
  }

  async #start(user: TestUser, skewMs: number): Promise<TestProcess> {
    const process = this.world.start(user, { skewMs, seed: `${this.#at} ${this.world.processes.size}` })
    const hold = async () => {
      const stream = await process.encryption.stream(this.world.stream.id)
      this.#processOf.set(stream.known, process)
      // Whoever reads or publishes joins.
      if (this.#may(process, 'publishUntilMs') || this.#may(process, 'subscribeUntilMs'))
        stream.keyPart.join()
      await stream.hold()
    }
    await this.#quietly(hold())
    return process
  }

  async #read(process: TestProcess, step: number): Promise<void> {
    const one = pick(this.published, step)
    if (one !== undefined) await this.#quietly(process.open(one.batch))
  }

  async #publish(process: TestProcess): Promise<void> {
    if (!this.#may(process, 'publishUntilMs')) return
    const at = this.#at
    const before = this.#readersFor(process)
    const batch = await this.#quietly(process.publish(content))
    if (batch === undefined) return
    const after = this.#readersFor(process)
    const ids = this.users.map(({ userId }) => userId)
    this.published.push({
      ...{ batch, at },
      strangers: new Set(ids.filter((id) => !before.some.has(id) && !after.some.has(id))),
      readers: new Set(ids.filter((id) => before.all.has(id) && after.all.has(id))),
    })
  }

  /** Who can read: by the registry or by what a process knows, and by both. */
  #readersFor(process: TestProcess) {
    const ids = this.users.map(({ userId }) => userId)
    const isReader = (id: NodeId) => this.#isReader(id)
    return {
      some: new Set(ids.filter((id) => isReader(id) || process.reads(id))),
      all: new Set(ids.filter((id) => isReader(id) && process.reads(id))),
    }
  }

  #isReader(userId: NodeId, forMs = 0): boolean {
    return (this.world.rights.get(userId)?.subscribeUntilMs ?? 0) > this.world.clock.now() + forMs
  }

  #may({ user }: TestProcess, what: 'publishUntilMs' | 'subscribeUntilMs'): boolean {
    return (this.world.rights.get(user.userId)?.[what] ?? 0) > this.world.clock.now()
  }

  /** Somebody is there who has the key, may read, and gives it to other readers. */
  #isAnswered(batch: MessageBatch, asking: TestProcess): boolean {
    // Whoever does not know when an epoch was made does not give its key in the last five minutes.
    const isSoonOver = !this.#isReader(asking.user.userId, clockToleranceMs + maxSkewMs)
    if (this.#history.history === 'none' || isSoonOver) return false
    const id = batch.messages[0]?.groupKeyId
    return [...this.#processOf].some(
      ([known, process]) =>
        process !== asking &&
        this.world.processes.has(process) &&
        process.isJoined &&
        this.#isReader(process.user.userId) &&
        known.epochs(id as never).length > 0,
    )
  }

  /** Without history, whoever has no card when an epoch begins may come when its opener has gone on to another. */
  #isNamed({ userId }: TestUser, batch: MessageBatch): boolean {
    const chain = `e${batch.messages[0]?.groupKeyId}`
    const begunAt = this.world.records.findIndex(({ message }) => message.messageChainId === chain)
    return this.#history.history === 'all' || (this.#cardAt.get(userId) ?? Infinity) <= begunAt
  }

  /** A process of its publisher, or of who opened its epoch, is there, and published just now. */
  #isOnline({ chain, messages }: MessageBatch, online: readonly TestProcess[]): boolean {
    const epoch = `e${messages[0]?.groupKeyId}`
    const opened = this.world.records.find(({ message }) => message.messageChainId === epoch)
    const ids = [chain.publisherId, opened?.message.publisherId]
    return online.some((one) => this.#may(one, 'publishUntilMs') && ids.includes(one.user.userId))
  }

  async #secretsOf(user: TestUser, isAll: boolean): Promise<Secrets> {
    const { records } = this.world
    const held = [...this.#processOf].flatMap(([known, process]) =>
      process.user === user ? (this.#held.get(known) ?? []) : [],
    )
    return isAll
      ? Secrets.of(user, records, held)
      : Secrets.of(
          user,
          records.filter(({ isStored }) => isStored),
          [],
        )
  }

  #setWeather(weather: Partial<Weather>): void {
    const { isOutage, ...others } = weather
    if (isOutage !== undefined) this.world.setOutage(isOutage)
    Object.assign(this.world.weather, others)
    const { isDeaf, isUnstored, isWithheld, isSilent, isCardless } = this.world.weather
    if (isDeaf || isUnstored || isWithheld || isSilent || isCardless) this.#hasLost = true
  }

  async #quietly<T>(work: Promise<T>): Promise<T | undefined> {
    try {
      return await this.world.run(work)
    } catch (error) {
      // What a user is told of, not what is wrong with the code.
      if (error instanceof Error && 'code' in error) return undefined
      throw error
    }
  }

  #name(user: TestUser): string {
    return names[this.users.indexOf(user)] ?? ''
  }
}

async function rotate({ encryption }: TestProcess): Promise<void> {
  await (await encryption.stream(streamId)).rotate()
}

const isContent = (opened: Uint8Array): true | string => toHex(opened) === toHex(content) || 'other content'

const pick = <T>(list: readonly T[], number: number): T | undefined => list[number % list.length]

const forEver = (as: 'reader' | 'writer' | 'both', untilMs = Infinity) => ({
  publishUntilMs: as === 'reader' ? 0 : untilMs,
  subscribeUntilMs: as === 'writer' ? 0 : untilMs,
})
