import { mediaLimits } from '../limits.ts'
import type { Member } from './member.ts'

/** Which partitions of a session somebody reads: what is published in others takes work and bandwidth of all publishers there, for nobody. */
export class Readers {
  /** Of those who are no members, such as recorders: by partition, until when. They say so anew every few seconds. */
  readonly #others = new Map<number, number>()

  heard(partitions: readonly number[], nowMs: number): void {
    for (const partition of partitions) this.#others.set(partition, nowMs + mediaLimits.memberTtlMs)
  }

  /** A member that does not say what it reads may read everything. */
  read(partition: number, members: readonly Member[], nowMs: number): boolean {
    const isRead = ({ catalogue }: Member): boolean => catalogue.reads?.includes(partition) ?? true
    return members.some(isRead) || (this.#others.get(partition) ?? -Infinity) > nowMs
  }
}
