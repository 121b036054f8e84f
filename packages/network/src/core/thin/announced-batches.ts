import { compareRefs, type MessageRef, type NodeId } from '@runnel/protocol'

/** What a neighbour said of a batch. */
interface Announcement {
  readonly peerId: NodeId
  readonly sinceMs: number
  /** Of the batch that it has, as `digestCheck` makes it. */
  readonly check: number
  /** How often it was asked for the batch. */
  asked: number
}

/** A batch that neighbours say they have, and that is not here. */
interface AwaitedBatch {
  /** Of its last message. */
  readonly place: MessageRef
  /** When it is fetched from those who were not asked for it yet; Infinity where all were. */
  dueMs: number
  /** Who was asked last, where one is asked after the other. */
  lastAsked?: NodeId | undefined
  /** The first one first. */
  announcements: Announcement[]
}

/** A batch to be asked for. */
interface NextAsked {
  readonly place: MessageRef
  /** Undefined where all who named it were asked. */
  readonly peerId: NodeId | undefined
  /** Who was asked last, and did not send it. */
  readonly before: NodeId | undefined
}

/** What neighbours had said of a batch that came. */
export interface Announced {
  readonly sinceMs: number
  /** Who has it; the first one first. */
  readonly peerIds: readonly NodeId[]
}

/** The announced batches of one chain, a bounded number: of more, those that all were asked for are forgotten first, and then those that one neighbour alone names. */
export class AnnouncedBatches {
  readonly #max: number
  #batches: AwaitedBatch[] = []

  constructor(max: number) {
    this.#max = max
  }

  get dueMs(): number {
    return this.#batches.reduce((least, { dueMs }) => Math.min(least, dueMs), Infinity)
  }

  /** False when another one was forgotten for it. */
  add(
    place: MessageRef,
    { peerId, check }: Pick<Announcement, 'peerId' | 'check'>,
    { nowMs, dueMs }: { readonly nowMs: number; readonly dueMs: number },
  ): boolean {
    const announcement = { peerId, sinceMs: nowMs, check, asked: 0 }
    const known = this.#batches.find((batch) => compareRefs(batch.place, place) === 0)
    if (known === undefined) this.#batches.push({ place, dueMs, announcements: [announcement] })
    else if (known.announcements.every((other) => other.peerId !== peerId)) {
      known.announcements.push(announcement)
      // Who named it before may have had nothing.
      known.dueMs = Math.min(known.dueMs, dueMs)
    }
    if (this.#batches.length <= this.#max) return true
    this.#forgetOne()
    return false
  }

  /**
   * What was said of a batch that has come, by those who named it with its check: before it came, only who had it could know that. The others
   * have another one, or none.
   */
  take(
    place: MessageRef,
    check: () => number,
  ): { readonly announced: Announced | undefined; readonly others: readonly NodeId[] } {
    const batch = this.#batches.find((other) => compareRefs(other.place, place) === 0)
    if (batch === undefined) return { announced: undefined, others: [] }
    this.forget(place)
    const expected = check()
    const held = batch.announcements.filter((announcement) => announcement.check === expected)
    const others = batch.announcements.filter((announcement) => announcement.check !== expected)
    const [first] = held
    const peerIds = held.map(({ peerId }) => peerId)
    const announced = first && { sinceMs: first.sinceMs, peerIds }
    return { announced, others: others.map(({ peerId }) => peerId) }
  }

  forget(place: MessageRef): void {
    this.#batches = this.#batches.filter((batch) => compareRefs(batch.place, place) !== 0)
  }

  /** What is to be fetched now, of each who named it once. */
  due(nowMs: number): readonly { readonly place: MessageRef; readonly peerIds: readonly NodeId[] }[] {
    const due = this.#batches.filter(({ dueMs }) => dueMs <= nowMs)
    return due.map((batch) => {
      const fresh = batch.announcements.filter(({ asked }) => asked === 0)
      for (const announcement of fresh) announcement.asked++
      batch.dueMs = Infinity
      return { place: batch.place, peerIds: fresh.map(({ peerId }) => peerId) }
    })
  }

  /**
   * The same, of one after the other, each so many times: the next one is asked where the one before has not sent it for as long as
   * `againMs` says.
   */
  next(nowMs: number, times: number, againMs: (peerId: NodeId) => number): readonly NextAsked[] {
    const due = this.#batches.filter(({ dueMs }) => dueMs <= nowMs)
    return due.map((batch) => {
      const before = batch.lastAsked
      const least = Math.min(...batch.announcements.map(({ asked }) => asked))
      const next = batch.announcements.find(({ asked }) => asked === least && asked < times)
      if (next !== undefined) next.asked++
      batch.lastAsked = next?.peerId
      batch.dueMs = next === undefined ? Infinity : nowMs + againMs(next.peerId)
      return { place: batch.place, peerId: next?.peerId, before }
    })
  }

  /** What is before a place and was asked of nobody yet is due no later than this. */
  hurry(place: MessageRef, dueMs: number): void {
    for (const batch of this.#batches) {
      const isAsked = batch.announcements.some(({ asked }) => asked > 0)
      if (!isAsked && compareRefs(batch.place, place) < 0) batch.dueMs = Math.min(batch.dueMs, dueMs)
    }
  }

  /** A neighbour has nothing any more. */
  gone(peerId: NodeId): void {
    for (const batch of this.#batches)
      batch.announcements = batch.announcements.filter((announcement) => announcement.peerId !== peerId)
    this.#batches = this.#batches.filter(({ announcements }) => announcements.length > 0)
  }

  /**
   * The oldest of what nobody is to be asked for any more; else of what only one names, of that neighbour which names most so: nobody crowds
   * out what others say.
   */
  #forgetOne(): void {
    const done = this.#batches.findIndex(({ dueMs }) => dueMs === Infinity)
    if (done >= 0) {
      this.#batches.splice(done, 1)
      return
    }
    const counts = new Map<NodeId, number>()
    for (const { announcements } of this.#batches) {
      const [only, another] = announcements
      if (only !== undefined && another === undefined)
        counts.set(only.peerId, (counts.get(only.peerId) ?? 0) + 1)
    }
    const [heaviest] = [...counts].reduce((most, one) => (one[1] > most[1] ? one : most), ['', 0])
    const isOf = ({ announcements: [only, another] }: AwaitedBatch): boolean =>
      another === undefined && only?.peerId === heaviest
    this.#batches.splice(Math.max(0, this.#batches.findIndex(isOf)), 1)
  }
}
