import { Alarm, isRunnelError, type Clock, type NodeId } from '@runnel/protocol'
import { pause } from '../deadline.ts'
import { clientError } from '../errors.ts'
import { MemberTable, type PresenceEvent } from '../presence/member-table.ts'
import type { SidePart } from '../side/side-part.ts'
import { goodbyeBytes, groupBytes, groupChain, groupMessageIn, groupPrefix } from './group-message.ts'
import { readerLimits } from './limits.ts'

export interface GroupModules {
  readonly clock: Clock
  readonly userId: NodeId
  readonly nodeId: NodeId
  readonly side: SidePart
  /** Who else is there changed. `isLess`: somebody went. */
  readonly onChange: (others: readonly NodeId[], isLess: boolean) => void
}

/** Of a group; the names are those of presence. */
const tableLimits = {
  presenceIntervalMs: readerLimits.groupIntervalMs,
  presenceSilentMs: readerLimits.groupSilentMs,
  minPresenceGapMs: readerLimits.minGroupGapMs,
  maxPresenceSkewMs: readerLimits.maxGroupSkewMs,
  maxMembers: readerLimits.maxGroupMembers,
  maxMembersOfUser: readerLimits.maxGroupMembers,
  maxPresenceBytes: 2,
  maxPresenceEvents: 0,
}

/** The processes of one user that share the work of a reader: who they are, and which slot each has. */
export class Group {
  readonly #readerId: Uint8Array
  readonly #modules: GroupModules
  readonly #table = new MemberTable(tableLimits)
  readonly #silence: Alarm
  readonly #next: Alarm
  readonly #stop: () => void
  /** Undefined until it knows which are taken. */
  #slot: number | undefined
  #saidMs = -Infinity
  #isClosed = false

  constructor(readerId: Uint8Array, modules: GroupModules) {
    const { clock, side, userId, nodeId } = modules
    this.#readerId = readerId
    this.#modules = modules
    this.#silence = new Alarm({ onDue: () => this.#expire() }, { clock })
    this.#next = new Alarm({ onDue: () => this.#say() }, { clock })
    this.#stop = side.on(groupPrefix, (message) => {
      if (message.publisherId !== userId || !side.isOfReader(message)) return
      const said = groupMessageIn(message, readerId)
      if (said === undefined || said.nodeId === nodeId) return
      const event = this.#table.take(said, { nowMs: clock.monotonicMs(), wallMs: clock.now() })
      if (event !== undefined) this.#changed([event])
      this.#silence.set(this.#table.dueMs)
    })
  }

  /** In which chain this member keeps its cursor. */
  get slot(): number {
    return this.#slot ?? 0
  }

  get others(): readonly NodeId[] {
    return this.#table.members.map(({ nodeId }) => nodeId)
  }

  /** Says that this member is there, and listens for a moment who else is. Throws READER_GROUP_FULL. */
  async join(signal: AbortSignal): Promise<void> {
    const { side, clock } = this.#modules
    await side.waitForNeighbour(signal)
    this.#say()
    await pause(clock, readerLimits.groupHelloMs, signal)
    this.#slot = this.#freeSlot()
    if (this.#slot === undefined)
      throw clientError(
        'READER_GROUP_FULL',
        `${this.#table.size} others, at most ${readerLimits.maxGroupMembers} in all`,
      )
    this.#saySoon()
  }

  /** Says goodbye. Idempotent. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#next.set(Infinity)
    this.#silence.set(Infinity)
    this.#stop()
    this.#send(goodbyeBytes(this.#readerId))
  }

  #changed(events: readonly PresenceEvent[]): void {
    if (this.#isClosed) return
    this.#keepSlot()
    if (events.every(({ type }) => type === 'changed')) return
    const isLess = events.some(({ type }) => type === 'left' || type === 'lost')
    // Whoever came hears soon that this one is there.
    if (!isLess) this.#saySoon()
    this.#modules.onChange(this.others, isLess)
  }

  #expire(): void {
    const lost = this.#table.expire(this.#modules.clock.monotonicMs())
    this.#silence.set(this.#table.dueMs)
    if (lost.length > 0) this.#changed(lost)
  }

  /** Where two have taken the same slot, the one with the lower id keeps it. */
  #keepSlot(): void {
    const { nodeId } = this.#modules
    const slot = this.#slot
    if (slot === undefined) return
    if (!this.#table.members.some((other) => other.data === slot && other.nodeId < nodeId)) return
    this.#slot = this.#freeSlot() ?? slot
    this.#saySoon()
  }

  #freeSlot(): number | undefined {
    const taken = new Set(this.#table.members.map(({ data }) => data))
    const all = Array.from({ length: readerLimits.maxGroupMembers }, (_, slot) => slot)
    return all.find((slot) => !taken.has(slot))
  }

  #saySoon(): void {
    this.#next.set(this.#saidMs + readerLimits.minGroupGapMs)
  }

  #say(): void {
    if (this.#isClosed) return
    this.#saidMs = this.#modules.clock.monotonicMs()
    this.#send(groupBytes(this.#readerId, this.#slot))
    this.#next.set(this.#saidMs + readerLimits.groupIntervalMs)
  }

  /** What cannot be sent now is said again with the next. */
  #send(bytes: Uint8Array): void {
    try {
      this.#modules.side.publish(groupChain(this.#modules.nodeId), bytes)
    } catch (error) {
      if (!isRunnelError(error)) throw error
    }
  }
}
