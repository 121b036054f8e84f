import {
  compareRefs,
  dropOldest,
  laterPlace,
  placeBefore,
  placeOf,
  type MessageChain,
  type MessageRef,
  type StreamMessage,
} from '@runnel/protocol'
import { ByteQueue } from '../queue/byte-queue.ts'
import { keyOfChain } from './chain-heads.ts'

export interface LiveBufferLimits {
  readonly maxMessages: number
  readonly maxBytes: number
}

/** What had to go of one chain. */
export interface DroppedOfChain {
  readonly chain: MessageChain
  readonly after: MessageRef
  readonly upTo: MessageRef
}

/** Places between which messages had to go. */
export interface DroppedStretch {
  readonly from: MessageRef
  readonly to: MessageRef
  /** By chain; of as many chains as messages may wait, those of which the last went. */
  readonly chains: ReadonlyMap<string, DroppedOfChain>
}

/** Whether a place is in a stretch. */
export const isWithin = (
  place: MessageRef,
  stretch: Pick<DroppedStretch, 'from' | 'to'> | undefined,
): boolean =>
  stretch !== undefined && compareRefs(place, stretch.from) >= 0 && compareRefs(place, stretch.to) <= 0

/**
 * Live messages that wait for history, by their places: what filled a gap came after the messages behind that gap, and the node does not count it
 * as missing any more. At a limit the oldest go, and it is remembered where, so that they can be read from storage.
 */
export class LiveBuffer {
  readonly #limits: LiveBufferLimits
  /** Ascending. */
  readonly #messages = new ByteQueue<StreamMessage>()
  #dropped: Pick<DroppedStretch, 'from' | 'to'> | undefined
  #droppedChains = new Map<string, DroppedOfChain>()

  constructor(limits: LiveBufferLimits) {
    this.#limits = limits
  }

  push(message: StreamMessage): void {
    this.#messages.insert(message, message.content.length, isAfter(message))
    while (this.#isTooFull()) {
      const oldest = this.shift()
      if (oldest !== undefined) this.#noteDropped(oldest)
    }
  }

  /** Takes the oldest one out. */
  shift(): StreamMessage | undefined {
    return this.#messages.shift()
  }

  /** It is there, or may have had to go. */
  holds(chain: MessageChain, place: MessageRef): boolean {
    if (isWithin(place, this.#dropped)) return true
    for (const message of this.#messages.backFrom(isAfter(place))) {
      if (compareRefs(message, place) !== 0) return false
      if (keyOfChain(message) === keyOfChain(chain)) return true
    }
    return false
  }

  /** The keys of the chains whose messages are there. */
  chains(): ReadonlySet<string> {
    return new Set(
      Array.from(
        this.#messages.backFrom(() => false),
        keyOfChain,
      ),
    )
  }

  /** What had to go since it was asked last. */
  takeDropped(): DroppedStretch | undefined {
    const dropped = this.#dropped && { ...this.#dropped, chains: this.#droppedChains }
    this.#dropped = undefined
    this.#droppedChains = new Map()
    return dropped
  }

  #isTooFull(): boolean {
    const { maxMessages, maxBytes } = this.#limits
    return this.#messages.length > maxMessages || this.#messages.bytes > maxBytes
  }

  #noteDropped(message: StreamMessage): void {
    const place = placeOf(message)
    const { from = place, to = place } = this.#dropped ?? {}
    this.#dropped = {
      from: compareRefs(place, from) < 0 ? place : from,
      to: compareRefs(place, to) > 0 ? place : to,
    }
    this.#noteChain(message, place)
  }

  #noteChain(message: StreamMessage, place: MessageRef): void {
    const { streamId, partition, publisherId, messageChainId, previous } = message
    const chain = { streamId, partition, publisherId, messageChainId }
    const before = previous === undefined ? placeBefore(place) : placeOf(previous)
    const { after = before, upTo = place } = this.#droppedChains.get(keyOfChain(chain)) ?? {}
    this.#droppedChains.delete(keyOfChain(chain))
    this.#droppedChains.set(keyOfChain(chain), {
      chain,
      after: compareRefs(before, after) < 0 ? before : after,
      upTo: laterPlace(upTo, place),
    })
    dropOldest(this.#droppedChains, this.#limits.maxMessages)
  }
}

const isAfter =
  (place: MessageRef) =>
  (other: MessageRef): boolean =>
    compareRefs(other, place) > 0
