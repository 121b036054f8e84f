import type { ClockTell, NodeId } from '@runnel/protocol'

/** Requests in a row after a link has opened. */
const firstQuestions = 8
/** Answers that are remembered; the one with the shortest round trip counts. */
const maxSamples = 8
/** How long an answer is valid: clocks drift apart by some 10 µs a second at worst, and slowly if they are disciplined. */
const askAgainMs = 5_000

interface Sample {
  readonly roundTripMs: number
  readonly offsetMs: number
}

interface PeerClock {
  readonly samples: Sample[]
  token: number
  askedMs: number
  isWaiting: boolean
  answers: number
}

export interface LinkClocksModules {
  ask(peerId: NodeId, token: number): void
}

/**
 * How far the neighbours' monotonic clocks are from this one: Cristian's algorithm, in which the shortest round trip has the
 * smallest error (at most half of it; on a symmetric link none). No wall clock is involved. Times are in milliseconds of this
 * process's monotonic clock.
 */
export class LinkClocks {
  readonly #modules: LinkClocksModules
  readonly #peers = new Map<NodeId, PeerClock>()
  #token = 0

  constructor(modules: LinkClocksModules) {
    this.#modules = modules
  }

  /** Peers whose clock is known from as many answers as are requested at first. */
  get known(): number {
    let known = 0
    for (const { answers } of this.#peers.values()) if (answers >= firstQuestions) known++
    return known
  }

  linkOpened(peerId: NodeId, nowMs: number): void {
    const peer = { samples: [], token: 0, askedMs: nowMs, isWaiting: false, answers: 0 }
    this.#peers.set(peerId, peer)
    this.#ask(peerId, peer, nowMs)
  }

  linkClosed(peerId: NodeId): void {
    this.#peers.delete(peerId)
  }

  told(peerId: NodeId, { token, atUs }: Pick<ClockTell, 'token' | 'atUs'>, nowMs: number): void {
    const peer = this.#peers.get(peerId)
    if (peer === undefined || !peer.isWaiting || token !== peer.token) return
    const roundTripMs = nowMs - peer.askedMs
    peer.isWaiting = false
    peer.answers++
    peer.samples.push({ roundTripMs, offsetMs: atUs / 1000 - (peer.askedMs + roundTripMs / 2) })
    if (peer.samples.length > maxSamples) peer.samples.shift()
    if (peer.answers < firstQuestions) this.#ask(peerId, peer, nowMs)
  }

  /** Whether the peer's last answer is so old that it should be asked again. */
  isStale(peerId: NodeId, nowMs: number): boolean {
    const peer = this.#peers.get(peerId)
    return peer !== undefined && nowMs - peer.askedMs >= askAgainMs
  }

  askAgain(peerId: NodeId, nowMs: number): void {
    const peer = this.#peers.get(peerId)
    if (peer !== undefined && this.isStale(peerId, nowMs)) this.#ask(peerId, peer, nowMs)
  }

  /** The peer's clock minus this one; undefined before its first answer. */
  offsetMs(peerId: NodeId): number | undefined {
    let best: Sample | undefined
    for (const sample of this.#peers.get(peerId)?.samples ?? [])
      if (best === undefined || sample.roundTripMs < best.roundTripMs) best = sample
    return best?.offsetMs
  }

  #ask(peerId: NodeId, peer: PeerClock, nowMs: number): void {
    peer.token = this.#token = (this.#token + 1) >>> 0
    peer.askedMs = nowMs
    peer.isWaiting = true
    this.#modules.ask(peerId, peer.token)
  }
}
