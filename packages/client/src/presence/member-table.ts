import type { NodeId, Time } from '@runnel/protocol'
import type { PresenceLimits } from './limits.ts'
import type { PresenceMessage } from './presence-message.ts'

/** A process that is in the stream and wants to be seen. */
export interface Member {
  /** The user who signed the member's messages. */
  readonly userId: NodeId
  /** The node id of this process among the user's processes, as the user states it. */
  readonly nodeId: NodeId
  /** The member's data about itself; undefined if it gave none. */
  readonly data: unknown
}

/** `lost`: the member was silent for a while and did not leave. `changed`: its data changed. */
export interface PresenceEvent extends Member {
  readonly type: 'joined' | 'changed' | 'left' | 'lost'
}

interface Entry {
  readonly member: Member
  readonly data: string | undefined
  /** Of the last message, by the member's clock. */
  readonly saidMs: number
  /** When that came, by the monotonic clock. */
  readonly heardMs: number
}

/** Who is there, from what members say: pure, with the time in. */
export class MemberTable {
  readonly #limits: PresenceLimits
  /** By user and node, who was heard of longest ago first. */
  readonly #here = new Map<string, Entry>()
  /** Who went, and when that was said: what is older and comes again is not news. Who went longest ago first. */
  readonly #gone = new Map<string, Pick<Entry, 'saidMs' | 'heardMs'>>()
  readonly #ofUser = new Map<NodeId, number>()
  /** Messages that found no room, came too often, or are of another time. */
  refused = 0

  constructor(limits: PresenceLimits) {
    this.#limits = limits
  }

  get members(): readonly Member[] {
    return [...this.#here.values()].map(({ member }) => member)
  }

  get size(): number {
    return this.#here.size
  }

  /** When `expire` has something to do; Infinity when there is nobody. */
  get dueMs(): number {
    const [oldest] = this.#here.values()
    return oldest === undefined ? Infinity : oldest.heardMs + this.#limits.presenceSilentMs
  }

  /** A member said something. Returns what is new by that. */
  take(said: PresenceMessage, { nowMs, wallMs }: Time): PresenceEvent | undefined {
    const key = keyOf(said)
    const entry = this.#here.get(key)
    const before = entry ?? this.#gone.get(key)
    const { maxPresenceSkewMs, minPresenceGapMs } = this.#limits
    const gapMs = said.isHere ? minPresenceGapMs : 1
    const isRepeated = before !== undefined && said.timestamp < before.saidMs + gapMs
    if (isRepeated || Math.abs(said.timestamp - wallMs) > maxPresenceSkewMs) return this.#refuse()
    const heard = { saidMs: said.timestamp, heardMs: nowMs }
    if (!said.isHere) {
      this.#remove(key, entry, heard)
      return entry && { type: 'left', ...entry.member }
    }
    if (entry === undefined && !this.#hasRoom(said.userId)) return this.#refuse()
    const member =
      entry !== undefined && entry.data === said.data
        ? entry.member
        : { userId: said.userId, nodeId: said.nodeId, data: said.data && (JSON.parse(said.data) as unknown) }
    // Again, so that it is the last.
    this.#here.delete(key)
    this.#here.set(key, { member, data: said.data, ...heard })
    this.#gone.delete(key)
    if (entry === undefined) this.#count(said.userId, 1)
    if (entry?.member === member) return undefined
    return { type: entry === undefined ? 'joined' : 'changed', ...member }
  }

  /** Who was silent for too long is lost. */
  expire(nowMs: number): readonly PresenceEvent[] {
    const lost: PresenceEvent[] = []
    while (this.dueMs <= nowMs) {
      const [[key, entry] = []] = this.#here
      if (key === undefined || entry === undefined) break
      this.#remove(key, entry, { saidMs: entry.saidMs, heardMs: nowMs })
      lost.push({ type: 'lost', ...entry.member })
    }
    return lost
  }

  #remove(key: string, entry: Entry | undefined, heard: Pick<Entry, 'saidMs' | 'heardMs'>): void {
    if (this.#here.delete(key) && entry !== undefined) this.#count(entry.member.userId, -1)
    this.#gone.delete(key)
    this.#gone.set(key, heard)
    // What was said before is too old by then.
    const keptMs = 2 * this.#limits.maxPresenceSkewMs
    for (const [other, { heardMs }] of this.#gone) {
      if (this.#gone.size <= this.#limits.maxMembers && heard.heardMs - heardMs <= keptMs) break
      this.#gone.delete(other)
    }
  }

  #hasRoom(userId: NodeId): boolean {
    const { maxMembers, maxMembersOfUser } = this.#limits
    return this.size < maxMembers && (this.#ofUser.get(userId) ?? 0) < maxMembersOfUser
  }

  #count(userId: NodeId, by: 1 | -1): void {
    const count = (this.#ofUser.get(userId) ?? 0) + by
    if (count > 0) this.#ofUser.set(userId, count)
    else this.#ofUser.delete(userId)
  }

  #refuse(): undefined {
    this.refused++
  }
}

const keyOf = ({ userId, nodeId }: Pick<Member, 'userId' | 'nodeId'>): string => `${userId} ${nodeId}`
