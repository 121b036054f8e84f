import { compareRefs, type MessageRef } from '@runnel/protocol'
import type { Message } from '@runnel/client'
import type { FeedRow } from './session-file.ts'

/** A message's place, and in which chain it is. */
export type Placed = Pick<
  Message,
  'streamId' | 'partition' | 'publisherId' | 'messageChainId' | keyof MessageRef
>

/**
 * How far sessions got what a feed has: the newest place of each chain. After a restart the feed goes on from there, and leaves out what
 * the sessions have.
 */
export class FeedPlaces {
  /** Not written yet. */
  readonly changed = new Map<string, MessageRef>()
  /** Of what the process before this one passed on; undefined where there was none. */
  readonly #before: FeedRow | undefined
  readonly #onChanged: () => void
  readonly #openedMs: number
  #heardMs: number
  #state: 'behind' | 'failed' | 'live'

  constructor(before: FeedRow | undefined, { nowMs, onChanged }: { nowMs: number; onChanged: () => void }) {
    this.#before = before
    this.#onChanged = onChanged
    this.#openedMs = nowMs
    this.#heardMs = before?.heardMs ?? nowMs
    this.#state = before === undefined ? 'live' : 'behind'
  }

  /** Unix milliseconds: sessions have what came until then. */
  get heardMs(): number {
    return this.#heardMs
  }

  /** What was missed has not come yet. */
  get isBehind(): boolean {
    return this.#state !== 'live'
  }

  /** Whether sessions got it from the process before this one. */
  had(message: Placed): boolean {
    const place = this.#before?.places.get(chainOf(message))
    return place !== undefined && compareRefs(message, place) <= 0
  }

  /** Whether the process before this one may have missed it. Once all that is here, an older time is that of a clock that is behind. */
  mayHaveMissed({ timestamp }: Placed): boolean {
    return this.isBehind && timestamp < this.#openedMs
  }

  /** Sessions have it: of each chain messages come in order. */
  note(message: Placed): void {
    if (this.#state === 'failed') return
    const { timestamp, sequenceNumber } = message
    this.changed.set(chainOf(message), { timestamp, sequenceNumber })
    this.#onChanged()
  }

  /** What comes now may be behind what was missed: nothing of it counts until that is read after all. */
  failed(): void {
    this.#state = 'failed'
  }

  /** It is tried again. */
  again(): void {
    this.#state = 'behind'
  }

  /** Sessions have all that was missed. */
  caughtUp(): void {
    this.#state = 'live'
    this.#onChanged()
  }

  /** The process is there at this time. */
  heard(nowMs: number): void {
    if (this.#state === 'live') this.#heardMs = nowMs
  }
}

function chainOf({ streamId, partition, publisherId, messageChainId }: Placed): string {
  return `${streamId}#${partition} ${publisherId} ${messageChainId}`
}
