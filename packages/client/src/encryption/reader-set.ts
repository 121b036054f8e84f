import type { Clock, NodeId, StreamId } from '@runnel/protocol'
import { noPermissions, type Permissions, type UserPermissions } from '../registry/ports.ts'

export interface ReaderSetModules {
  readonly clock: Clock
  /** All permissions of a stream; asks the registry. */
  readonly list: (streamId: StreamId) => Promise<readonly UserPermissions[]>
  /** Of one user, after a change. */
  readonly permissionsOf: (streamId: StreamId, user: NodeId) => Promise<Permissions>
}

/** How far clocks differ, together with when processes hear of a change. */
export const clockToleranceMs = 5 * 60_000

type Rights = Pick<Permissions, 'publishUntilMs' | 'subscribeUntilMs' | 'grant'>

/** Who may read a stream, and when somebody last ceased to. Follows the registry by its changes. */
export class ReaderSet {
  readonly #streamId: StreamId
  readonly #modules: ReaderSetModules
  readonly #rights = new Map<NodeId, Rights>()
  /** Who could read when that was counted last. */
  readonly #reading = new Set<NodeId>()
  /** Unix milliseconds: they are counted again from `#nextEndMs` on, or when the clock was set back before `#countedMs`. */
  #countedMs = 0
  #nextEndMs = Infinity
  /** Users to look up again. */
  readonly #changed = new Set<NodeId>()
  #isUnknown = true
  #refreshing: Promise<void> | undefined
  #lossMs = 0
  #losses = 0
  #gains = 0

  constructor(options: { readonly streamId: StreamId }, modules: ReaderSetModules) {
    this.#streamId = options.streamId
    this.#modules = modules
  }

  /** The registry told of a change: of a user, or, undefined, of anybody. */
  changed(user: NodeId | undefined): void {
    if (user === undefined) this.#isUnknown = true
    else this.#changed.add(user)
  }

  /** All changes that were told of are regarded; not while they are being looked up. */
  get isCurrent(): boolean {
    return !this.#isUnknown && this.#changed.size === 0 && this.#refreshing === undefined
  }

  /** Regards all changes told of so far. Throws what the registry throws; they are regarded the next time then. */
  async refresh(): Promise<void> {
    while (!this.isCurrent) {
      this.#refreshing ??= this.#refresh().finally(() => (this.#refreshing = undefined))
      await this.#refreshing
    }
  }

  /** Who may read at that time (Unix milliseconds), by id. */
  readersAt(wallMs: number): readonly NodeId[] {
    return this.#with(({ subscribeUntilMs }) => subscribeUntilMs > wallMs)
  }

  reads(userId: NodeId, wallMs: number): boolean {
    return (this.#rights.get(userId)?.subscribeUntilMs ?? 0) > wallMs
  }

  /** Who may publish and not read, by id. */
  writersAt(wallMs: number): readonly NodeId[] {
    return this.#with((rights) => rights.publishUntilMs > wallMs && rights.subscribeUntilMs <= wallMs)
  }

  /** Who may publish, by id. */
  publishersAt(wallMs: number): readonly NodeId[] {
    return this.#with(({ publishUntilMs }) => publishUntilMs > wallMs)
  }

  publishes(userId: NodeId, wallMs: number): boolean {
    return (this.#rights.get(userId)?.publishUntilMs ?? 0) > wallMs
  }

  /** May read and grant: what a key holder has to. */
  holds(userId: NodeId, wallMs: number): boolean {
    return this.#rights.get(userId)?.grant === true && this.reads(userId, wallMs)
  }

  /** When somebody last ceased to be a reader, by a revocation that was seen or by time; 0 when that is not known to have happened. */
  lossMs(wallMs: number): number {
    this.#countAll(wallMs)
    let lossMs = this.#lossMs
    for (const { subscribeUntilMs } of this.#rights.values())
      if (subscribeUntilMs <= wallMs && subscribeUntilMs > lossMs) lossMs = subscribeUntilMs
    return lossMs
  }

  /** How many readers, or key holders, were seen to go: by a revocation, or by time. */
  losses(wallMs: number): number {
    this.#countAll(wallMs)
    return this.#losses
  }

  /** How many readers were seen to come. */
  gains(wallMs: number): number {
    this.#countAll(wallMs)
    return this.#gains
  }

  /** Cheap unless somebody's permission has ended. */
  #countAll(wallMs: number): void {
    if (wallMs >= this.#countedMs && wallMs < this.#nextEndMs) return
    this.#countedMs = wallMs
    this.#nextEndMs = Infinity
    for (const [user, { subscribeUntilMs }] of this.#rights) this.#count(user, wallMs, subscribeUntilMs)
  }

  /** `changedMs` is when it ceased to be a reader, if it did. */
  #count(user: NodeId, wallMs: number, changedMs: number): void {
    const untilMs = this.#rights.get(user)?.subscribeUntilMs ?? 0
    const isReading = untilMs > wallMs
    if (isReading) this.#nextEndMs = Math.min(this.#nextEndMs, untilMs)
    if (isReading === this.#reading.has(user)) return
    if (isReading) {
      this.#reading.add(user)
      this.#gains++
    } else {
      this.#reading.delete(user)
      this.#lost(changedMs)
    }
  }

  #lost(atMs: number): void {
    this.#lossMs = Math.max(this.#lossMs, atMs)
    this.#losses++
  }

  #with(matches: (rights: Rights) => boolean): readonly NodeId[] {
    return [...this.#rights].flatMap(([user, rights]) => (matches(rights) ? [user] : [])).sort()
  }

  async #refresh(): Promise<void> {
    const { list, permissionsOf } = this.#modules
    if (this.#isUnknown) {
      this.#isUnknown = false
      const users = [...this.#changed]
      this.#changed.clear()
      try {
        this.#replace(await list(this.#streamId))
      } catch (error) {
        this.#isUnknown = true
        for (const user of users) this.#changed.add(user)
        throw error
      }
      return
    }
    const users = [...this.#changed]
    this.#changed.clear()
    try {
      const all = await Promise.all(users.map((user) => permissionsOf(this.#streamId, user)))
      for (const [i, user] of users.entries()) {
        const rights = all[i]
        if (rights !== undefined) this.#set(user, rights)
      }
    } catch (error) {
      for (const user of users) this.#changed.add(user)
      throw error
    }
  }

  #replace(all: readonly UserPermissions[]): void {
    const listed = new Map(all.flatMap((one) => (one.user === 'public' ? [] : [[one.user, one] as const])))
    for (const user of [...this.#rights.keys()]) if (!listed.has(user)) this.#set(user, noPermissions)
    for (const [user, rights] of listed) this.#set(user, rights)
  }

  #set(user: NodeId, { publishUntilMs, subscribeUntilMs, grant }: Rights): void {
    const nowMs = this.#modules.clock.now()
    const before = this.#rights.get(user)
    // What ended before this change is counted as it was.
    this.#countAll(nowMs)
    if (publishUntilMs === 0 && subscribeUntilMs === 0) this.#rights.delete(user)
    else this.#rights.set(user, { publishUntilMs, subscribeUntilMs, grant })
    this.#count(user, nowMs, nowMs)
    if (before?.grant === true && !grant) this.#lost(nowMs)
  }
}
