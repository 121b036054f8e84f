import { TokenBucket, limits as wireLimits, type MessageRef } from '@runnel/protocol'
import { RecentPlaces } from './recent-places.ts'

export interface PublisherShareLimits {
  readonly maxUrgentPerS: number
  readonly maxUrgentBytesPerS: number
  readonly maxFirstBytesPerS: number
  readonly maxUrgentChains: number
  readonly maxUrgentPlaces: number
  readonly clockToleranceMs: number
}

/** Priorities below it are for what little has to come first, such as sound: it comes by two ways. */
export const firstPriorities = 64
/** The priority of what goes beyond the share of those. */
const usualPriority = 128

/** Nothing that was taken longer ago can come again: its timestamp is too old by any clock that is tolerated. */
export function forgottenAfterMs({
  clockToleranceMs,
}: Pick<PublisherShareLimits, 'clockToleranceMs'>): number {
  return 2 * clockToleranceMs + wireLimits.maxUrgentLifetimeMs
}

/** What came in one message chain, which a process has to itself. */
interface SeenChain {
  readonly places: RecentPlaces
  readonly usedMs: number
}

/** A second's worth may come at once, and at least the largest batch. */
const burstOf = (perSecond: number) => ({ perSecond, burst: perSecond })

/** What one publisher has sent of late in one stream part, and may send. */
export class PublisherShare {
  readonly #limits: PublisherShareLimits
  readonly #messages: TokenBucket
  readonly #bytes: TokenBucket
  readonly #firstBytes: TokenBucket
  readonly #chains = new Map<string, SeenChain>()
  /** When its last message was taken. */
  usedMs: number

  constructor(limits: PublisherShareLimits, nowMs: number) {
    this.#limits = limits
    this.usedMs = nowMs
    this.#messages = new TokenBucket(burstOf(limits.maxUrgentPerS), nowMs)
    this.#bytes = new TokenBucket(burstOf(limits.maxUrgentBytesPerS), nowMs)
    this.#firstBytes = new TokenBucket(burstOf(limits.maxFirstBytesPerS), nowMs)
  }

  isSeen(messageChainId: string, place: MessageRef): boolean {
    return this.#chains.get(messageChainId)?.places.has(place) ?? false
  }

  /** Whether it may send another message now, of so many bytes. */
  hasRoom(messageChainId: string, bytes: number, nowMs: number): boolean {
    return this.#hasChain(messageChainId, nowMs) && this.#messages.has(nowMs) && this.#bytes.has(nowMs, bytes)
  }

  /** Whether it has that chain, or room for it. Those of processes that ended long ago are forgotten. */
  #hasChain(messageChainId: string, nowMs: number): boolean {
    const { maxUrgentChains } = this.#limits
    if (this.#chains.has(messageChainId) || this.#chains.size < maxUrgentChains) return true
    const oldestMs = nowMs - forgottenAfterMs(this.#limits)
    for (const [id, { usedMs }] of this.#chains) if (usedMs < oldestMs) this.#chains.delete(id)
    return this.#chains.size < maxUrgentChains
  }

  /** Takes a message that is not seen and has room; returns the priority that it has from here on. */
  take(
    message: MessageRef & { readonly messageChainId: string },
    { bytes, priority }: { readonly bytes: number; readonly priority: number },
    nowMs: number,
  ): number {
    this.usedMs = nowMs
    this.#messages.take(nowMs)
    this.#bytes.take(nowMs, bytes)
    const { messageChainId } = message
    const { places } = this.#chains.get(messageChainId) ?? { places: new RecentPlaces() }
    this.#chains.set(messageChainId, { places, usedMs: nowMs })
    places.add(message)
    if (places.size > this.#limits.maxUrgentPlaces) places.dropOldest()
    if (priority >= firstPriorities || this.#firstBytes.take(nowMs, bytes)) return priority
    return usualPriority
  }
}
