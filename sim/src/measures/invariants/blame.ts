import type { WithheldMessages } from '@runnel/network'
import { compareRefs, toStreamPartId, type MessageBatch, type NodeId } from '@runnel/protocol'
import type { Breaches } from './breaches.ts'
import { messageKey } from './published.ts'

export interface BlameModules {
  readonly breaches: Breaches
  nowMs(): number
  /** When frames were last lost or held up. */
  troubledMs(): number
  /** Whether the node has the message, or is no longer there to have it. */
  has(nodeId: NodeId, key: string): boolean
}

/** A message that a host kept from a guest. */
interface Kept {
  readonly batch: MessageBatch
  readonly sinceMs: number
  /** When the host brought something that was published well after it. */
  contradictedMs: number | undefined
}

/** What one host sent one guest. */
interface Pair {
  /** By the clock of publishers: when it first brought something. */
  readonly activeSince: number
  kept: Kept[]
}

/** After the contradiction a guest asks twice, and waits. */
const reportWithinMs = 20_000
/** Messages that were published so long after another come after it. */
const laterMs = 3_000
/** As long as a guest watches. */
const watchedMs = 40_000

/**
 * A guest never says of an honest host that it withheld something. Of one that does, it says so: where the two were attached all the
 * while, another brought the message, and the host brought later ones.
 */
export class BlameChecker {
  readonly #modules: BlameModules
  readonly #pairs = new Map<string, Pair>()
  /** Messages that guests reported. */
  reported = 0

  constructor(modules: BlameModules) {
    this.#modules = modules
  }

  /** A host has a message for a guest, and keeps it or not. */
  sent(hostId: NodeId, guestId: NodeId, batch: MessageBatch, isKept: boolean): void {
    const { nowMs } = this.#modules
    const key = `${guestId} ${hostId} ${partOf(batch)}`
    const [last] = batch.messages.slice(-1)
    const pair = this.#pairs.get(key)
    if (last === undefined) return
    if (!isKept) {
      if (pair === undefined) this.#pairs.set(key, { activeSince: last.timestamp, kept: [] })
      for (const kept of pair?.kept ?? [])
        if ((kept.batch.messages[0]?.timestamp ?? 0) + laterMs < last.timestamp)
          kept.contradictedMs ??= nowMs()
    } else if (pair !== undefined && last.timestamp > pair.activeSince + laterMs)
      pair.kept.push({ batch, sinceMs: nowMs(), contradictedMs: undefined })
  }

  /** A guest said what a host withheld. */
  told(guestId: NodeId, told: WithheldMessages, isGuilty: boolean): void {
    const { streamPartId, hostId, chain, ranges, messages } = told
    this.reported += messages
    if (!isGuilty)
      return this.#modules.breaches.report(
        'innocent',
        `${guestId} says that ${hostId} withheld ${messages} messages of ${chain.publisherId}`,
      )
    const pair = this.#pairs.get(`${guestId} ${hostId} ${streamPartId}`)
    if (pair === undefined) return
    pair.kept = pair.kept.filter(({ batch }) => {
      if (batch.chain.publisherId !== chain.publisherId) return true
      if (batch.chain.messageChainId !== chain.messageChainId) return true
      const place = batch.messages.at(-1)
      return !ranges.some(({ upTo }) => place !== undefined && compareRefs(place, upTo) <= 0)
    })
  }

  /** The two are attached no longer, somewhere. */
  ended(guestId: NodeId, hostId: NodeId): void {
    for (const key of this.#pairs.keys()) if (key.startsWith(`${guestId} ${hostId} `)) this.#pairs.delete(key)
  }

  gone(nodeId: NodeId): void {
    for (const key of this.#pairs.keys()) if (key.includes(nodeId)) this.#pairs.delete(key)
  }

  check(): void {
    const { nowMs, troubledMs, has, breaches } = this.#modules
    for (const [key, pair] of this.#pairs) {
      const [guestId = '', hostId = ''] = key.split(' ') as NodeId[]
      pair.kept = pair.kept.filter(({ batch, sinceMs, contradictedMs = Infinity }) => {
        const isOld = sinceMs + watchedMs < nowMs()
        if (contradictedMs + reportWithinMs > nowMs()) return !isOld
        const isKnown = batch.messages.every((message) =>
          has(guestId as NodeId, messageKey({ ...batch.chain, ...message })),
        )
        // What was lost on the way may have come late, or not at all.
        if (isKnown && troubledMs() < sinceMs - reportWithinMs)
          breaches.report('withheld', `${guestId} does not say that ${hostId} withheld a message`)
        return false
      })
    }
  }
}

function partOf({ chain }: MessageBatch): string {
  return toStreamPartId(chain.streamId, chain.partition)
}
