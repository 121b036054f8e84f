import { placeOf, type MessageBatch, type MessageChain, type MessageRef, type NodeId } from '@runnel/protocol'

/** An accepted batch that some host has not brought. */
export interface Watched {
  readonly chain: MessageChain
  readonly first: MessageRef
  readonly last: MessageRef
  readonly count: number
  readonly acceptedMs: number
  readonly broughtBy: Set<NodeId>
  readonly missing: Map<NodeId, Missing>
}

/** What is known of a host that has not brought it. */
interface Missing {
  /** Since when the host is known to have brought something that was accepted later. */
  contradictedMs: number | undefined
  /** How often it was asked, and when last. */
  asked: number
  askedMs: number
}

interface Host {
  /** Since when it brings something, so takes part in the stream part; undefined before, and while it is silent. */
  activeSinceMs: number | undefined
  /** When the newest batch that it brought was accepted. */
  newestMs: number
  /** When it last brought anything, and when it was sent the last question that it answered. */
  broughtMs: number
  answeredMs: number
  /** Since when others have brought something and it nothing. */
  behindSinceMs: number | undefined
  isSilent: boolean
}

/** How often a host is asked for a message that it did not bring. */
const maxAsked = 2

/** What was accepted lately in one stream part, and which attached hosts have not brought it. */
export class PartWatch {
  /** In order of acceptance. */
  readonly #watched = new Map<string, Watched>()
  readonly #hosts = new Map<NodeId, Host>()

  get size(): number {
    return this.#watched.size
  }

  /** Whether time alone may show something. */
  get isBusy(): boolean {
    if (this.#watched.size > 0) return true
    return [...this.#hosts.values()].some((host) => host.behindSinceMs !== undefined && !host.isSilent)
  }

  /** Watches a batch until every host has brought it that has taken part since before it was published. */
  watch(accepted: {
    readonly batch: MessageBatch
    readonly hosts: readonly NodeId[]
    readonly from: NodeId | undefined
    readonly publishedMs: number
    readonly nowMs: number
  }): void {
    const { batch, hosts, from, publishedMs, nowMs: acceptedMs } = accepted
    const missing = new Map<NodeId, Missing>()
    for (const peerId of hosts)
      if (peerId !== from && (this.#hosts.get(peerId)?.activeSinceMs ?? Infinity) <= publishedMs)
        missing.set(peerId, { contradictedMs: undefined, asked: 0, askedMs: Infinity })
    if (missing.size === 0) return
    const { chain, messages } = batch
    const [first, last] = [placeOf(messages[0] as MessageRef), placeOf(messages.at(-1) as MessageRef)]
    const broughtBy = new Set(from === undefined ? [] : [from])
    this.#watched.set(keyOf(batch), {
      chain,
      first,
      last,
      count: messages.length,
      acceptedMs,
      broughtBy,
      missing,
    })
  }

  /** When the batch was accepted; undefined when it is not missing of this host. */
  brought(batch: MessageBatch, from: NodeId): number | undefined {
    const key = keyOf(batch)
    const watched = this.#watched.get(key)
    if (watched?.missing.delete(from) !== true) return undefined
    watched.broughtBy.add(from)
    if (watched.missing.size === 0) this.#watched.delete(key)
    return watched.acceptedMs
  }

  /** A host brought something, which was accepted then. */
  heard(peerId: NodeId, nowMs: number, acceptedMs = -Infinity): void {
    const host = this.#hostOf(peerId)
    host.activeSinceMs ??= nowMs
    const newestMs = Math.max(host.newestMs, acceptedMs)
    Object.assign(host, { newestMs, broughtMs: nowMs, behindSinceMs: undefined, isSilent: false })
  }

  /** A host said that it has no more of what it was asked for then. */
  answered(peerId: NodeId, sentMs: number): void {
    const host = this.#hostOf(peerId)
    host.answeredMs = Math.max(host.answeredMs, sentMs)
  }

  /** Something new came, and not from these hosts. */
  behind(hosts: readonly NodeId[], from: NodeId | undefined, nowMs: number): void {
    for (const peerId of hosts) if (peerId !== from) this.#hostOf(peerId).behindSinceMs ??= nowMs
  }

  gone(peerId: NodeId): void {
    this.#hosts.delete(peerId)
    this.#expectNothing(peerId)
  }

  dropOldest(): void {
    for (const key of this.#watched.keys()) {
      this.#watched.delete(key)
      return
    }
  }

  /** Watches no longer what was accepted before. */
  forget(beforeMs: number): void {
    for (const [key, { acceptedMs }] of this.#watched) {
      if (acceptedMs >= beforeMs) return
      this.#watched.delete(key)
    }
  }

  /** Hosts that brought nothing for so long while others did; each once. What they did not bring is expected no more. */
  silentFor(ms: number, nowMs: number): readonly NodeId[] {
    const silent: NodeId[] = []
    for (const [peerId, host] of this.#hosts) {
      if (host.isSilent || host.behindSinceMs === undefined || nowMs - host.behindSinceMs < ms) continue
      host.isSilent = true
      host.activeSinceMs = undefined
      this.#expectNothing(peerId)
      silent.push(peerId)
    }
    return silent
  }

  /** Notes which hosts have brought something later than what is missing. */
  contradict(nowMs: number): void {
    for (const { acceptedMs, missing } of this.#watched.values())
      for (const [peerId, state] of missing)
        if (this.#hostOf(peerId).newestMs > acceptedMs) state.contradictedMs ??= nowMs
  }

  /** What each host is to be asked for now, in order of acceptance: `afterMs` after the contradiction, and after three times as long. */
  toAsk(afterMs: number, nowMs: number): ReadonlyMap<NodeId, readonly Watched[]> {
    return this.#collect(({ contradictedMs = Infinity, asked }) => {
      return asked < maxAsked && nowMs - contradictedMs >= afterMs * (1 + 2 * asked)
    })
  }

  /** A host was asked for these. */
  asked(peerId: NodeId, watched: readonly Watched[], nowMs: number): void {
    for (const { missing } of watched) {
      const state = missing.get(peerId)
      if (state !== undefined) Object.assign(state, { asked: state.asked + 1, askedMs: nowMs })
    }
  }

  /**
   * What each host has not brought so long after the contradiction; it is watched no longer. Not before the host has heard the last
   * question, as its answer shows, or that it brought something so long after it: links are in order, and may be held up.
   */
  overdue(
    { afterMs, answerMs }: { readonly afterMs: number; readonly answerMs: number },
    nowMs: number,
  ): ReadonlyMap<NodeId, readonly Watched[]> {
    const overdue = this.#collect(({ contradictedMs = Infinity, asked, askedMs }, peerId) => {
      const { answeredMs, broughtMs } = this.#hostOf(peerId)
      const hasHeard = answeredMs >= askedMs || broughtMs >= askedMs + answerMs
      return asked === maxAsked && hasHeard && nowMs - contradictedMs >= afterMs
    })
    for (const [peerId, all] of overdue) for (const { missing } of all) missing.delete(peerId)
    for (const [key, { missing }] of this.#watched) if (missing.size === 0) this.#watched.delete(key)
    return overdue
  }

  #expectNothing(peerId: NodeId): void {
    for (const [key, { missing }] of this.#watched)
      if (missing.delete(peerId) && missing.size === 0) this.#watched.delete(key)
  }

  #collect(isMeant: (state: Missing, peerId: NodeId) => boolean): ReadonlyMap<NodeId, readonly Watched[]> {
    const found = new Map<NodeId, Watched[]>()
    for (const watched of this.#watched.values())
      for (const [peerId, state] of watched.missing) {
        if (!isMeant(state, peerId)) continue
        const ofHost = found.get(peerId)
        if (ofHost === undefined) found.set(peerId, [watched])
        else ofHost.push(watched)
      }
    return found
  }

  #hostOf(peerId: NodeId): Host {
    let host = this.#hosts.get(peerId)
    if (host === undefined) {
      const never = { newestMs: -Infinity, broughtMs: -Infinity, answeredMs: -Infinity }
      host = { ...never, activeSinceMs: undefined, behindSinceMs: undefined, isSilent: false }
      this.#hosts.set(peerId, host)
    }
    return host
  }
}

function keyOf({ chain, messages }: MessageBatch): string {
  const { timestamp, sequenceNumber } = messages.at(-1) as MessageRef
  return `${chain.publisherId} ${chain.messageChainId} ${timestamp} ${sequenceNumber}`
}
