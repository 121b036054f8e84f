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

/** A batch that a host sent a guest, or kept from it. */
interface Sending {
  readonly batch: MessageBatch
  readonly atMs: number
  /** Of one that was kept: when the host sent something that was published well after it, and when something once it was asked. */
  contradictedMs: number
  confirmedMs: number
}

/** What one host has for one guest in one stream part. */
interface Pair {
  /** By the clock of publishers: the first that was sent. */
  readonly activeSince: number
  sent: Sending[]
  kept: Sending[]
}

/** What was sent has come after this. */
const arrivesMs = 2_000
/** After the contradiction a guest asks twice, and waits to see that the host has heard it. */
const askedWithinMs = 9_500
const reportWithinMs = 3_000
/** Trouble may delay what was sent before. */
const calmMs = 25_000
/** Messages that were published so long after another come after it, and a host that is there for so long is there. */
const laterMs = 6_000
/** As long as a guest watches. */
const watchedMs = 40_000

/**
 * A guest never says of a message that a host sent it that it was withheld. Of one that a host keeps from it, it says so: where the two
 * were attached all the while, another brought the message, and the host brought later ones.
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
  has(hostId: NodeId, guestId: NodeId, batch: MessageBatch, isKept: boolean): void {
    const atMs = this.#modules.nowMs()
    const key = `${guestId} ${hostId} ${toStreamPartId(batch.chain.streamId, batch.chain.partition)}`
    const last = batch.messages.at(-1)
    let pair = this.#pairs.get(key)
    if (last === undefined) return
    if (isKept) {
      const isDue = pair !== undefined && last.timestamp > pair.activeSince + laterMs
      if (isDue) pair?.kept.push({ batch, atMs, contradictedMs: Infinity, confirmedMs: Infinity })
      return
    }
    if (pair === undefined) this.#pairs.set(key, (pair = { activeSince: last.timestamp, sent: [], kept: [] }))
    pair.sent.push({ batch, atMs, contradictedMs: Infinity, confirmedMs: Infinity })
    for (const kept of pair.kept) {
      if (kept.contradictedMs + askedWithinMs <= atMs) kept.confirmedMs = Math.min(kept.confirmedMs, atMs)
      if ((kept.batch.messages.at(-1)?.timestamp ?? 0) + laterMs < last.timestamp)
        kept.contradictedMs = Math.min(kept.contradictedMs, atMs)
    }
  }

  /** A guest said what a host withheld. */
  told(guestId: NodeId, told: WithheldMessages): void {
    const { nowMs, breaches } = this.#modules
    const { streamPartId, hostId, messages } = told
    this.reported += messages
    const pair = this.#pairs.get(`${guestId} ${hostId} ${streamPartId}`)
    if (pair === undefined) return
    const isFalse = pair.sent.some(({ batch, atMs }) => atMs + arrivesMs < nowMs() && isTold(told, batch))
    if (isFalse) breaches.report('innocent', `${guestId} says that ${hostId} withheld what it sent`)
    pair.kept = pair.kept.filter(({ batch }) => !isTold(told, batch))
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
    const isRecent = ({ atMs }: Sending): boolean => atMs + watchedMs > nowMs()
    for (const [key, pair] of this.#pairs) {
      const [guestId, hostId] = key.split(' ') as [NodeId, NodeId]
      pair.sent = pair.sent.filter(isRecent)
      const due = pair.kept.filter(({ confirmedMs }) => confirmedMs + reportWithinMs <= nowMs())
      pair.kept = pair.kept.filter((kept) => isRecent(kept) && !due.includes(kept))
      for (const { batch, atMs } of due) {
        const [message] = batch.messages
        const isKnown = message !== undefined && has(guestId, messageKey({ ...batch.chain, ...message }))
        // What was lost on the way may have come late, or not at all.
        if (isKnown && troubledMs() < atMs - calmMs && this.#isSent(guestId, hostId, { batch, atMs }))
          breaches.report('withheld', `${guestId} does not say that ${hostId} withheld a message`)
      }
    }
  }

  /** Whether another host sent it as well, at about the time. */
  #isSent(guestId: NodeId, hostId: NodeId, { batch, atMs }: Pick<Sending, 'batch' | 'atMs'>): boolean {
    const last = batch.messages.at(-1)
    for (const [key, { sent }] of this.#pairs) {
      if (!key.startsWith(`${guestId} `) || key.startsWith(`${guestId} ${hostId} `)) continue
      const isIt = (other: Sending): boolean =>
        Math.abs(other.atMs - atMs) < arrivesMs &&
        other.batch.chain.publisherId === batch.chain.publisherId &&
        other.batch.messages.at(-1)?.timestamp === last?.timestamp
      if (sent.some(isIt)) return true
    }
    return false
  }
}

/** Whether a report is of this batch. */
function isTold({ chain, ranges }: WithheldMessages, batch: MessageBatch): boolean {
  const last = batch.messages.at(-1)
  if (last === undefined || batch.chain.publisherId !== chain.publisherId) return false
  if (batch.chain.messageChainId !== chain.messageChainId) return false
  return ranges.some(({ after, upTo }) => compareRefs(after, last) < 0 && compareRefs(last, upTo) <= 0)
}
