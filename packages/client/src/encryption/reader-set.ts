import type { Clock, NodeId, StreamId } from '@runnel/protocol'
import type { Permissions, UserPermissions } from '../registry/ports.ts'

export interface ReaderSetModules {
  readonly clock: Clock
  /** All permissions of a stream; asks the registry. */
  readonly list: (streamId: StreamId) => Promise<readonly UserPermissions[]>
  /** Of one user, after a change. */
  readonly permissionsOf: (streamId: StreamId, user: NodeId) => Promise<Permissions>
}

type Rights = Pick<Permissions, 'publishUntilMs' | 'subscribeUntilMs'>

/** Who may read a stream, and when somebody last ceased to. Follows the registry by its changes. */
export class ReaderSet {
  readonly #streamId: StreamId
  readonly #modules: ReaderSetModules
  readonly #rights = new Map<NodeId, Rights>()
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

  /** When somebody last ceased to be a reader, by a revocation that was seen or by time; 0 when that is not known to have happened. */
  lossMs(wallMs: number): number {
    let lossMs = this.#lossMs
    for (const { subscribeUntilMs } of this.#rights.values())
      if (subscribeUntilMs <= wallMs && subscribeUntilMs > lossMs) lossMs = subscribeUntilMs
    return lossMs
  }

  /** When the next reader's permission ends, after that time; Infinity when none does. */
  nextEndMs(wallMs: number): number {
    let endMs = Infinity
    for (const { subscribeUntilMs } of this.#rights.values())
      if (subscribeUntilMs > wallMs && subscribeUntilMs < endMs) endMs = subscribeUntilMs
    return endMs
  }

  /** How many readers were seen to go by a revocation. */
  get losses(): number {
    return this.#losses
  }

  /** How many readers were seen to come. */
  get gains(): number {
    return this.#gains
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
    for (const user of [...this.#rights.keys()])
      if (!listed.has(user)) this.#set(user, { publishUntilMs: 0, subscribeUntilMs: 0 })
    for (const [user, rights] of listed) this.#set(user, rights)
  }

  #set(user: NodeId, { publishUntilMs, subscribeUntilMs }: Rights): void {
    const nowMs = this.#modules.clock.now()
    const before = this.#rights.get(user)?.subscribeUntilMs ?? 0
    if (before > nowMs && subscribeUntilMs <= nowMs) {
      this.#lossMs = nowMs
      this.#losses++
    }
    if (before <= nowMs && subscribeUntilMs > nowMs) this.#gains++
    if (publishUntilMs === 0 && subscribeUntilMs === 0) this.#rights.delete(user)
    else this.#rights.set(user, { publishUntilMs, subscribeUntilMs })
  }
}
