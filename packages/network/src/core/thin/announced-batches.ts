import { compareRefs, type MessageRef, type NodeId } from '@runnel/protocol'

/** A batch that neighbours say they have, and that is not here. */
export interface AnnouncedBatch {
  /** Of its last message. */
  readonly place: MessageRef
  readonly sinceMs: number
  /** When it is fetched; Infinity once it was. */
  dueMs: number
  /** Who has it, as they say; the first one first. */
  readonly peerIds: NodeId[]
}

/** The announced batches of one chain, a bounded number: of more the oldest are forgotten, and are found like any gap. */
export class AnnouncedBatches {
  readonly #max: number
  readonly #batches: AnnouncedBatch[] = []

  constructor(max: number) {
    this.#max = max
  }

  get dueMs(): number {
    return this.#batches.reduce((least, { dueMs }) => Math.min(least, dueMs), Infinity)
  }

  /** False when an older one was forgotten for it. */
  add(place: MessageRef, peerId: NodeId, { nowMs, dueMs }: { nowMs: number; dueMs: number }): boolean {
    const known = this.#batches.find((batch) => compareRefs(batch.place, place) === 0)
    if (known === undefined) this.#batches.push({ place, sinceMs: nowMs, dueMs, peerIds: [peerId] })
    else if (!known.peerIds.includes(peerId)) known.peerIds.push(peerId)
    if (this.#batches.length <= this.#max) return true
    this.#batches.shift()
    return false
  }

  /** What was said of a batch that has come. */
  take(place: MessageRef): AnnouncedBatch | undefined {
    const at = this.#batches.findIndex((batch) => compareRefs(batch.place, place) === 0)
    return at < 0 ? undefined : this.#batches.splice(at, 1)[0]
  }

  due(nowMs: number): readonly AnnouncedBatch[] {
    return this.#batches.filter(({ dueMs }) => dueMs <= nowMs)
  }

  /** A neighbour has nothing any more. */
  gone(peerId: NodeId): void {
    for (const { peerIds } of this.#batches) {
      const at = peerIds.indexOf(peerId)
      if (at >= 0) peerIds.splice(at, 1)
    }
  }
}
