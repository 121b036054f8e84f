import { frameDelays, type FrameDelays } from '../../measures/frame-delays.ts'
import type { SimNode } from '../../world/world.ts'
import { kindOfPart, kinds, type Kind } from './room-member.ts'

/** What came of the messages of one kind. */
export interface RoomOfKind extends FrameDelays {
  readonly kind: Kind
  /** Copies of a message received by a member that received it. */
  readonly copies: number
}

export interface RoomReport {
  readonly kinds: readonly RoomOfKind[]
  /** Of all members, in a second and for each: digests sent, messages asked for, and of these sent. */
  readonly digests: number
  readonly pulled: number
  readonly served: number
}

const noCounts = {
  ...{ sound: 0, 'sound again': 0, pictures: 0, 'pictures again': 0, digests: 0, pulled: 0, served: 0 },
}
type Counts = typeof noCounts

/** Gathers what comes at the members of a room that are there all the time, of what these send. */
export class RoomMeasure {
  readonly #delaysMs: Record<Kind, number[]> = { sound: [], pictures: [] }
  readonly #published: Record<Kind, number> = { sound: 0, pictures: 0 }
  #before = noCounts
  #counted = noCounts

  published(kind: Kind): void {
    this.#published[kind]++
  }

  arrived(kind: Kind, delayMs: number): void {
    this.#delaysMs[kind].push(delayMs)
  }

  begin(members: readonly SimNode[]): void {
    this.#before = countsOf(members)
  }

  end(members: readonly SimNode[]): void {
    const counts = countsOf(members)
    const names = Object.keys(counts) as (keyof Counts)[]
    this.#counted = Object.fromEntries(
      names.map((name) => [name, counts[name] - this.#before[name]]),
    ) as Counts
  }

  /** Of so many members in so many seconds. */
  report(members: number, seconds: number): RoomReport {
    const each = (count: number): number => count / seconds / members
    const { digests, pulled, served } = this.#counted
    return {
      kinds: kinds.map((kind) => this.#ofKind(kind, members)),
      ...{ digests: each(digests), pulled: each(pulled), served: each(served) },
    }
  }

  #ofKind(kind: Kind, members: number): RoomOfKind {
    return {
      kind,
      ...frameDelays(this.#published[kind] * (members - 1), this.#delaysMs[kind]),
      copies: 1 + this.#counted[`${kind} again`] / Math.max(1, this.#counted[kind]),
    }
  }
}

function countsOf(members: readonly SimNode[]): Counts {
  const sum = { ...noCounts }
  for (const { node } of members) {
    const { counters, streamParts } = node.metrics()
    sum.digests += counters['urgent.digests'] ?? 0
    sum.pulled += counters['urgent.pulled'] ?? 0
    sum.served += counters['urgent.served'] ?? 0
    for (const { streamPartId, delivered, published, duplicates } of streamParts) {
      const kind = kindOfPart(streamPartId)
      sum[kind] += delivered - published
      sum[`${kind} again`] += duplicates
    }
  }
  return sum
}
