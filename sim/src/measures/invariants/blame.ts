import { networkLimits, type WithheldMessages } from '@runnel/network'
import {
  compareRefs,
  toStreamPartId,
  type MessageBatch,
  type NodeId,
  type StreamMessage,
  type StreamPartId,
} from '@runnel/protocol'
import type { Breaches } from './breaches.ts'
import { messageKey } from './published.ts'

export interface BlameModules {
  readonly breaches: Breaches
  nowMs(): number
  /** By the clock of publishers, which is everybody's in these worlds. */
  wallMs(): number
}

interface Sending {
  readonly batch: MessageBatch
  readonly atMs: number
}

/** A batch that a host kept from a guest. */
interface Kept {
  readonly batch: MessageBatch
  /** When the host brought something that the guest took after it, and when something once it was asked for it. */
  contradictedMs: number
  confirmedMs: number
}

/** What one host has for one guest in one stream part, while they are attached. */
interface Pair {
  /** Since when it brings something, by both clocks. */
  activeSince: { readonly nowMs: number; readonly wallMs: number } | undefined
  /** Since when others brought something and it nothing. */
  behindSinceMs: number | undefined
  sent: Sending[]
  readonly kept: Map<string, Kept>
  told: { readonly told: WithheldMessages; readonly atMs: number }[]
}

/** A message that a guest took, and when. */
interface Taken {
  readonly nowMs: number
  readonly wallMs: number
}

const { hostAskMs, hostClockMs, hostSilentMs, hostWatchMs, hostWithholdsMs, maxRecentAgeMs } = networkLimits
/** What was sent has come after this. */
const arrivesMs = 2_000
/** The contradiction is noticed at one look, and the second question asked at another; then so long until the host must have heard it. */
const heardWithinMs = 3 * hostAskMs + 2 * hostWatchMs + hostAskMs
/** And then at the next look it is said, not earlier than it may be. */
const reportWithinMs = Math.max(0, hostWithholdsMs + hostWatchMs - heardWithinMs) + 2 * hostWatchMs
/** A guest watches for so long after it took a batch. */
const watchedMs = 2 * hostSilentMs - 2 * hostWatchMs
/** A guest expects of all what it took so soon after it was published, whatever came after it. */
const expectedMs = maxRecentAgeMs / 3
const keptMs = 2 * hostSilentMs + 10_000

/**
 * A guest never says of a message that a host sent it that it was withheld. Of one that a host keeps from it, it says so: where the host
 * has brought something since well before it was published, another brought the message soon after, and the host brings later ones.
 * All of this is by what came to the guest: what was sent into a link that has ended shows nothing.
 */
export class BlameChecker {
  readonly #modules: BlameModules
  readonly #pairs = new Map<string, Pair>()
  /** By guest and key of message. */
  readonly #taken = new Map<string, Taken>()
  /** Messages that guests reported. */
  reported = 0

  constructor(modules: BlameModules) {
    this.#modules = modules
  }

  /** A host sends a guest a batch, or keeps it from it. */
  sends(hostId: NodeId, guestId: NodeId, batch: MessageBatch, isKept: boolean): void {
    const pair = this.#pairOf(guestId, hostId, partOf(batch))
    const key = keyOf(batch)
    if (!isKept) pair.sent.push({ batch, atMs: this.#modules.nowMs() })
    else if (!pair.kept.has(key) && !pair.told.some(({ told }) => isTold(told, batch)))
      pair.kept.set(key, { batch, contradictedMs: Infinity, confirmedMs: Infinity })
  }

  /** A batch comes to a guest from an attached host. */
  brings(hostId: NodeId, guestId: NodeId, batch: MessageBatch): void {
    const taken = this.#taken.get(`${guestId} ${keyOf(batch)}`)
    // What the guest still looks up, or may have no room for, shows nothing yet.
    if (taken !== undefined) this.#heard(hostId, guestId, partOf(batch), taken)
  }

  /** A guest takes a message of somebody else, which this host brought. */
  takes(guestId: NodeId, id: StreamPartId, message: StreamMessage, from: NodeId): void {
    const taken = { nowMs: this.#modules.nowMs(), wallMs: this.#modules.wallMs() }
    this.#taken.set(`${guestId} ${messageKey(message)}`, taken)
    this.#pairOf(guestId, from, id)
    for (const [key, pair] of this.#pairs)
      if (key !== pairKey(guestId, from, id) && key.startsWith(`${guestId} `) && key.endsWith(` ${id}`))
        pair.behindSinceMs ??= taken.nowMs
    this.#heard(from, guestId, id, taken)
  }

  /** A guest said what a host withheld. */
  told(guestId: NodeId, told: WithheldMessages): void {
    const { nowMs, breaches } = this.#modules
    const { streamPartId, hostId, messages } = told
    this.reported += messages
    const pair = this.#pairs.get(pairKey(guestId, hostId, streamPartId))
    if (pair === undefined) return
    const isFalse = pair.sent.some(({ batch, atMs }) => atMs + arrivesMs < nowMs() && isTold(told, batch))
    if (isFalse) breaches.report('innocent', `${guestId} says that ${hostId} withheld what it sent`)
    pair.told.push({ told, atMs: nowMs() })
    for (const [key, { batch }] of pair.kept) if (isTold(told, batch)) pair.kept.delete(key)
  }

  /** The two are attached no longer in a stream part. */
  ended(guestId: NodeId, hostId: NodeId, id: StreamPartId): void {
    this.#pairs.delete(pairKey(guestId, hostId, id))
  }

  gone(nodeId: NodeId): void {
    for (const key of this.#pairs.keys()) if (key.includes(nodeId)) this.#pairs.delete(key)
  }

  check(): void {
    const nowMs = this.#modules.nowMs()
    for (const [key, { nowMs: atMs }] of this.#taken) if (atMs + keptMs <= nowMs) this.#taken.delete(key)
    for (const [key, pair] of this.#pairs) {
      pair.sent = pair.sent.filter(({ atMs }) => atMs + keptMs > nowMs)
      pair.told = pair.told.filter(({ atMs }) => atMs + keptMs > nowMs)
      const [guestId, hostId] = key.split(' ') as [NodeId, NodeId]
      for (const [batchKey, kept] of pair.kept) {
        if (kept.confirmedMs + reportWithinMs > nowMs) continue
        pair.kept.delete(batchKey)
        if (this.#isDue(guestId, pair, kept))
          this.#modules.breaches.report(
            'withheld',
            `${guestId} does not say that ${hostId} withheld ${batchKey}`,
          )
      }
    }
  }

  /** Whether a guest must have expected it of the host. */
  #isDue(guestId: NodeId, { activeSince }: Pair, { batch, confirmedMs }: Kept): boolean {
    const [first, last] = [batch.messages[0], batch.messages.at(-1)]
    const taken = this.#taken.get(`${guestId} ${keyOf(batch)}`)
    if (taken === undefined || activeSince === undefined || first === undefined || last === undefined)
      return false
    return (
      first.timestamp - hostClockMs > activeSince.wallMs &&
      taken.wallMs - last.timestamp < expectedMs &&
      confirmedMs < taken.nowMs + watchedMs
    )
  }

  /** A host brought something that the guest took then. */
  #heard(hostId: NodeId, guestId: NodeId, id: StreamPartId, taken: Taken): void {
    const pair = this.#pairOf(guestId, hostId, id)
    const [nowMs, wallMs] = [this.#modules.nowMs(), this.#modules.wallMs()]
    // It counted as silent, and now as one that has just come.
    if (pair.behindSinceMs !== undefined && nowMs - pair.behindSinceMs >= hostSilentMs) {
      pair.activeSince = undefined
      pair.kept.clear()
    }
    pair.behindSinceMs = undefined
    pair.activeSince ??= { nowMs, wallMs }
    for (const [key, kept] of pair.kept) {
      const keptAt = this.#taken.get(`${guestId} ${key}`)
      if (keptAt !== undefined && keptAt.nowMs < taken.nowMs)
        kept.contradictedMs = Math.min(kept.contradictedMs, nowMs)
      if (kept.contradictedMs + heardWithinMs <= nowMs) kept.confirmedMs = Math.min(kept.confirmedMs, nowMs)
    }
  }

  #pairOf(guestId: NodeId, hostId: NodeId, id: StreamPartId): Pair {
    const key = pairKey(guestId, hostId, id)
    let pair = this.#pairs.get(key)
    if (pair === undefined) {
      pair = { activeSince: undefined, behindSinceMs: undefined, sent: [], kept: new Map(), told: [] }
      this.#pairs.set(key, pair)
    }
    return pair
  }
}

function pairKey(guestId: NodeId, hostId: NodeId, id: StreamPartId): string {
  return `${guestId} ${hostId} ${id}`
}

function partOf({ chain }: MessageBatch): StreamPartId {
  return toStreamPartId(chain.streamId, chain.partition)
}

/** Of its last message. */
function keyOf({ chain, messages }: MessageBatch): string {
  return messageKey({ ...chain, ...(messages.at(-1) as StreamMessage) })
}

/** Whether a report is of this batch. */
function isTold({ chain, ranges }: WithheldMessages, batch: MessageBatch): boolean {
  const last = batch.messages.at(-1)
  if (last === undefined || batch.chain.publisherId !== chain.publisherId) return false
  if (batch.chain.messageChainId !== chain.messageChainId) return false
  return ranges.some(({ after, upTo }) => compareRefs(after, last) < 0 && compareRefs(last, upTo) <= 0)
}
