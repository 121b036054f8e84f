import { mediaLimits } from '../limits.ts'
import type { Member } from './member.ts'

/** A partition counts as read for this long after its last reader: who reads it and does not, again and again, makes nobody else say so each time. */
const lingerMs = 6_000

/** Which partitions of a session somebody reads: what is published in others takes work and bandwidth of all publishers there, for nobody. */
export class Readers {
  readonly #untilMs = new Map<number, number>()

  /** Somebody who is no member, such as a recorder, reads them, and says so anew every few seconds. */
  heard(partitions: readonly number[], nowMs: number): void {
    for (const partition of partitions) this.#extend(partition, nowMs + mediaLimits.memberTtlMs)
  }

  /** Asked every few seconds at least. A member that does not say what it reads may read everything. */
  read(partition: number, members: readonly Member[], nowMs: number): boolean {
    if (members.some(({ catalogue: { reads } }) => reads?.includes(partition) ?? true))
      this.#extend(partition, nowMs + lingerMs)
    return (this.#untilMs.get(partition) ?? -Infinity) > nowMs
  }

  #extend(partition: number, untilMs: number): void {
    this.#untilMs.set(partition, Math.max(untilMs, this.#untilMs.get(partition) ?? untilMs))
  }
}
