import type { Clock, NodeId, StreamId } from '@runnel/protocol'
import { noPermissions, type Permissions, type PermissionTable } from '../registry/ports.ts'

export interface ReaderSetModules {
  readonly clock: Clock
  /** All permissions of a stream; asks the registry. */
  readonly list: (streamId: StreamId) => Promise<PermissionTable>
  /** Of one user, after a change. */
  readonly permissionsOf: (streamId: StreamId, user: NodeId) => Promise<Permissions>
}

/** How far clocks differ, plus how far apart processes hear of a change. */
export const clockToleranceMs = 5 * 60_000

type Rights = Pick<Permissions, 'publishUntilMs' | 'subscribeUntilMs' | 'grant'>

/** What the registry tells of a change, as far as it is known. */
export interface ToldChange {
  /** The chain's block with it. */
  readonly block?: number | undefined
  /** What the user may since. */
  readonly permissions?: Rights | undefined
}

/** A user to look up again. */
interface Change extends ToldChange {
  /** The registry told of it, and it was not regarded yet. */
  readonly isTold: boolean
}

/**
 * Who may read a stream, and when somebody last ceased to. Follows the registry by its changes. What was taken is dated by the chain's
 * blocks, which are the same for all, also for what was before this process: what ended by time, by that time.
 */
export class ReaderSet {
  readonly #streamId: StreamId
  readonly #modules: ReaderSetModules
  readonly #rights = new Map<NodeId, Rights>()
  /** Unix milliseconds: so long everybody may subscribe. */
  #publicUntilMs = 0
  /** All of them, by id; undefined after somebody came, as sorting thousands takes a while. */
  #users: NodeId[] | undefined
  /** Who could read when that was counted last. */
  readonly #reading = new Set<NodeId>()
  /** Unix milliseconds: they are counted again from `#nextEndMs` on, or when the clock was set back before `#countedMs`. */
  #countedMs = 0
  #nextEndMs = Infinity
  readonly #changed = new Map<NodeId, Change>()
  /** The newest block of which the registry told. */
  #toldBlock = 0
  #block = 0
  #lossBlock = 0
  /** Who ceased to be a reader in a block that the registry has not told yet. */
  readonly #undated = new Set<NodeId>()
  #isListed = false
  #isUnknown = true
  #refreshing: Promise<void> | undefined
  #losses = 0
  #gains = 0

  constructor(options: { readonly streamId: StreamId }, modules: ReaderSetModules) {
    this.#streamId = options.streamId
    this.#modules = modules
  }

  /** The registry told of a change: of a user, or, undefined, of anybody. */
  changed(user: NodeId | undefined, { block, permissions }: ToldChange = {}): void {
    if (user === undefined) this.#isUnknown = true
    else this.#add(user, { isTold: true, block, permissions })
    if (block !== undefined) this.#toldBlock = Math.max(this.#toldBlock, block)
  }

  /** The registry may not have told yet of a change of a user. */
  doubt(user: NodeId): void {
    this.#add(user, { isTold: false })
  }

  /** All changes that were told of are regarded; not while they are being looked up. */
  get isCurrent(): boolean {
    return !this.#isUnknown && this.#changed.size === 0 && this.#refreshing === undefined
  }

  /**
   * Regards all changes told of so far. Throws what the registry throws: then they are looked up the next time, and until then what was told
   * counts, where that says what a user may.
   */
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

  /**
   * Whether a user may be given the key of an epoch that was made then (Unix milliseconds) or before: it may read now, and might when that
   * was made. The clock there may be ahead, and the epoch be for those who may read longer. Where nobody knows when, it counts as if just made.
   */
  mayOpen(userId: NodeId, createdMs?: number): boolean {
    const nowMs = this.#modules.clock.now()
    return this.reads(userId, Math.max(nowMs, createdMs ?? nowMs + clockToleranceMs))
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

  /** Who may grant, by id. */
  get granters(): readonly NodeId[] {
    return this.#with(({ grant }) => grant)
  }

  /** May read and grant: what a key holder has to. */
  holds(userId: NodeId, wallMs: number): boolean {
    return this.#rights.get(userId)?.grant === true && this.reads(userId, wallMs)
  }

  /** All changes until this block are regarded; 0 where there is no chain. */
  get block(): number {
    return this.#block
  }

  /** The last block in which a reader or a key holder lost its permission; Infinity until it is known, 0 where none did. */
  get lossBlock(): number {
    return this.#undated.size > 0 ? Infinity : this.#lossBlock
  }

  /** When a permission to read last ended by time (Unix milliseconds); 0 where none did. */
  lastEndMs(wallMs: number): number {
    const ends = [...this.#rights.values()].map(({ subscribeUntilMs }) => subscribeUntilMs)
    return ends.reduce((last, endMs) => (endMs <= wallMs && endMs > last ? endMs : last), 0)
  }

  /** How often readers, or key holders, went or may have gone: by a revocation, or by time. */
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
    for (const user of this.#rights.keys()) this.#count(user, wallMs)
  }

  #count(user: NodeId, wallMs: number): void {
    const untilMs = this.#rights.get(user)?.subscribeUntilMs ?? 0
    const isReading = untilMs > wallMs
    if (isReading) this.#nextEndMs = Math.min(this.#nextEndMs, untilMs)
    if (isReading === this.#reading.has(user)) return
    if (isReading) {
      this.#reading.add(user)
      this.#gains++
    } else {
      this.#reading.delete(user)
      this.#losses++
    }
  }

  /** Of two changes of a user the later block counts, and of one block what was told last. */
  #add(user: NodeId, change: Change): void {
    const known = this.#changed.get(user)
    const blocks = [known?.block, change.block].filter((one) => one !== undefined)
    const isOlder = !change.isTold || (change.block ?? Infinity) < (known?.block ?? 0)
    this.#changed.set(user, {
      isTold: change.isTold || known?.isTold === true,
      block: blocks.length > 0 ? Math.max(...blocks) : undefined,
      permissions: (isOlder ? known : change)?.permissions,
    })
  }

  #with(matches: (rights: Rights) => boolean): readonly NodeId[] {
    this.#users ??= [...this.#rights.keys()].sort()
    return this.#users.filter((user) => {
      const rights = this.#rights.get(user)
      return rights !== undefined && matches(rights)
    })
  }

  async #refresh(): Promise<void> {
    const isUnknown = this.#isUnknown
    const changed = [...this.#changed]
    this.#isUnknown = false
    this.#changed.clear()
    try {
      if (isUnknown) this.#replace(await this.#modules.list(this.#streamId))
      else await this.#update(changed)
    } catch (error) {
      this.#isUnknown ||= isUnknown
      this.#goByWhatWasTold(changed)
      throw error
    }
    if (!this.#isUnknown && this.#changed.size === 0) this.#block = this.#toldBlock
  }

  async #update(changed: readonly (readonly [NodeId, Change])[]): Promise<void> {
    const { permissionsOf } = this.#modules
    const looked = await Promise.all(
      changed.map(async ([user, change]) => {
        return { user, change, rights: await permissionsOf(this.#streamId, user) }
      }),
    )
    for (const { user, change, rights } of looked)
      this.#regard(user, change, this.#ownOf(user, change, rights))
  }

  /**
   * Without what is public. A stream may be encrypted although everybody may subscribe: then it is for those who are named, and where the
   * registry gives what is public instead, for those only who were named before, or of whom it just told so.
   */
  #ownOf(user: NodeId, { isTold, permissions }: Change, rights: Rights): Rights {
    if (this.#publicUntilMs === 0 || rights.subscribeUntilMs > this.#publicUntilMs) return rights
    const known = isTold ? permissions : this.#rights.get(user)
    return { ...rights, subscribeUntilMs: known?.subscribeUntilMs ?? 0 }
  }

  /** Also by what was told while the registry was asked about these. All of it is still to be looked up. */
  #goByWhatWasTold(changed: readonly (readonly [NodeId, Change])[]): void {
    const later = [...this.#changed]
    this.#changed.clear()
    for (const [user, change] of [...changed, ...later]) this.#add(user, change)
    for (const [user, change] of this.#changed) {
      const { block, permissions } = change
      if (permissions === undefined) continue
      this.#regard(user, change, permissions)
      this.#changed.set(user, { block, isTold: false, permissions: undefined })
    }
  }

  #regard(user: NodeId, { isTold, block }: Change, rights: Rights): void {
    const isLost = this.#set(user, rights)
    // It may have come and gone between two looks, and others gave it keys.
    const isGone = isTold && !this.#reading.has(user)
    if (isGone && !isLost) this.#losses++
    if (block !== undefined) this.#undated.delete(user)
    if (block !== undefined && (isLost || isGone)) this.#lossBlock = Math.max(this.#lossBlock, block)
    if (block === undefined && isLost) this.#undated.add(user)
  }

  #replace({ entries, block, lossBlock }: PermissionTable): void {
    const listed = new Map(
      entries.flatMap((one) => (one.user === 'public' ? [] : [[one.user, one] as const])),
    )
    this.#publicUntilMs = entries.find(({ user }) => user === 'public')?.subscribeUntilMs ?? 0
    for (const user of [...this.#rights.keys()]) if (!listed.has(user)) this.#set(user, noPermissions)
    for (const [user, rights] of listed) this.#set(user, rights)
    // Nobody knows who came and went since the last time.
    if (this.#isListed) this.#losses++
    this.#isListed = true
    this.#toldBlock = Math.max(this.#toldBlock, block)
    this.#lossBlock = Math.max(this.#lossBlock, lossBlock)
    this.#undated.clear()
  }

  /** True where that took from it the permission to read, or to grant. */
  #set(user: NodeId, { publishUntilMs, subscribeUntilMs, grant }: Rights): boolean {
    const nowMs = this.#modules.clock.now()
    const before = this.#rights.get(user)
    // What ended before this change is counted as it was.
    this.#countAll(nowMs)
    if (publishUntilMs === 0 && subscribeUntilMs === 0) this.#rights.delete(user)
    else {
      if (before === undefined) this.#users = undefined
      this.#rights.set(user, { publishUntilMs, subscribeUntilMs, grant })
    }
    const losses = this.#losses
    this.#count(user, nowMs)
    if (before?.grant === true && !grant) this.#losses++
    return this.#losses > losses
  }
}
