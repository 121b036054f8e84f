import type { NodeId, StreamPartId } from '@runnel/protocol'
import type { MessageStore } from '../store/message-store.ts'

/** What is noted of a run, which begins at `runMs`. */
interface RunMark {
  readonly runMs: number
  readonly valueMs: number
}

/** What is remembered of one stream part, so that after a crash it is known what may be missing. */
interface PartMark {
  /** Start of the run of this node in which the part was last complete. */
  readonly runMs: number
  /** From when on something may be missing; null when nothing is. */
  readonly missingSinceMs: number | null
}

/**
 * How far the store is complete, kept beside the messages: one mark for the node, renewed now and then while it runs,
 * and one for each stream part, written when its state changes. All times are of this node's clock; names begin with
 * its id, as several nodes may share a cluster. A clock that was ahead is found out when the next run begins before the last one ended: then
 * that one ended no earlier than where it had begun (`sure`, the end of the one before) and as much later as it lasted by the monotonic clock.
 */
export class RepairMarks {
  readonly #store: Pick<MessageStore, 'getMark' | 'setMark' | 'usage'>
  readonly #self: NodeId
  readonly #runMs: number
  #lastRunMs = 0
  #lastAliveMs = 0
  /** How much too late the dates of the last run are, at most. */
  #aheadMs = 0

  constructor(
    options: { readonly nodeId: NodeId; readonly runMs: number },
    modules: { store: Pick<MessageStore, 'getMark' | 'setMark' | 'usage'> },
  ) {
    this.#self = options.nodeId
    this.#runMs = options.runMs
    this.#store = modules.store
  }

  /** Learns how the last run ended, and begins a new one. */
  async begin(): Promise<void> {
    this.#lastRunMs = Number((await this.#store.getMark(`${this.#self} run`)) ?? 0)
    const aliveMs = Number((await this.#store.getMark(`${this.#self} alive`)) ?? 0)
    if (aliveMs > this.#runMs) {
      const endMs = (await this.#ofLastRun('sure')) + (await this.#ofLastRun('lasted'))
      // That of the run before was ahead, too, or this one's is behind: nothing is known.
      this.#lastAliveMs = endMs > this.#runMs ? 0 : endMs
      this.#aheadMs = aliveMs - this.#lastAliveMs
    } else this.#lastAliveMs = aliveMs
    await this.#setOfRun('sure', this.#lastAliveMs)
    await this.#store.setMark(`${this.#self} run`, String(this.#runMs))
    await this.alive(this.#runMs, 0)
  }

  /** Of parts that miss nothing, everything until then is stored, and until this long after the run began by the monotonic clock. */
  async alive(untilMs: number, lastedMs: number): Promise<void> {
    await this.#setOfRun('lasted', Math.max(0, lastedMs))
    await this.#store.setMark(`${this.#self} alive`, String(untilMs))
  }

  /** The stream parts kept last, in the order of their assignment; those found in the store if that was never noted. */
  async keptParts(): Promise<readonly StreamPartId[]> {
    const text = await this.#store.getMark(`${this.#self} kept`)
    if (text !== undefined) return JSON.parse(text) as StreamPartId[]
    return (await this.#store.usage()).map(({ streamPartId }) => streamPartId)
  }

  setKeptParts(streamPartIds: readonly StreamPartId[]): Promise<void> {
    return this.#store.setMark(`${this.#self} kept`, JSON.stringify(streamPartIds))
  }

  /** From when on something may be missing in a part that has just been joined; 0 for one that never was complete. */
  async missingSince(streamPartId: StreamPartId): Promise<number> {
    const text = await this.#store.getMark(this.#partMark(streamPartId))
    if (text === undefined) return 0
    const mark = JSON.parse(text) as PartMark
    if (mark.runMs === this.#runMs) return mark.missingSinceMs ?? mark.runMs
    if (mark.runMs !== this.#lastRunMs) return this.#ifPast(mark.missingSinceMs ?? mark.runMs)
    if (mark.missingSinceMs === null) return this.#lastAliveMs
    return this.#ifPast(Math.max(0, mark.missingSinceMs - this.#aheadMs))
  }

  setPart(streamPartId: StreamPartId, missingSinceMs: number | undefined): Promise<void> {
    const mark: PartMark = { runMs: this.#runMs, missingSinceMs: missingSinceMs ?? null }
    return this.#store.setMark(this.#partMark(streamPartId), JSON.stringify(mark))
  }

  /** From when on a storage node was not asked, because it could not be reached. */
  async unasked(streamPartId: StreamPartId, nodeId: NodeId): Promise<number | undefined> {
    const text = await this.#store.getMark(this.#nodeMark(streamPartId, nodeId))
    return text === undefined || text === '' ? undefined : Number(text)
  }

  setUnasked(streamPartId: StreamPartId, nodeId: NodeId, sinceMs: number | undefined): Promise<void> {
    return this.#store.setMark(
      this.#nodeMark(streamPartId, nodeId),
      sinceMs === undefined ? '' : String(sinceMs),
    )
  }

  /** A date that is still to come was noted by a clock that was ahead: it says nothing. */
  #ifPast(dateMs: number): number {
    return dateMs > this.#runMs ? 0 : dateMs
  }

  async #ofLastRun(name: 'sure' | 'lasted'): Promise<number> {
    const text = await this.#store.getMark(`${this.#self} ${name}`)
    if (text === undefined) return 0
    const { runMs, valueMs } = JSON.parse(text) as RunMark
    return runMs === this.#lastRunMs ? valueMs : 0
  }

  #setOfRun(name: 'sure' | 'lasted', valueMs: number): Promise<void> {
    const mark: RunMark = { runMs: this.#runMs, valueMs }
    return this.#store.setMark(`${this.#self} ${name}`, JSON.stringify(mark))
  }

  #partMark(streamPartId: StreamPartId): string {
    return `${this.#self} part ${streamPartId}`
  }

  #nodeMark(streamPartId: StreamPartId, nodeId: NodeId): string {
    return `${this.#self} unasked ${streamPartId} ${nodeId}`
  }
}
