import { backoffMs, type NodeId } from '@runnel/protocol'
import type { HostAddress } from '../../ports.ts'

export interface HostChoiceLimits {
  readonly minBackoffMs: number
  readonly maxBackoffMs: number
  readonly hostStaggerMs: number
  readonly hostRestMs: number
  readonly hostForgiveMs: number
}

export interface HostChoiceModules {
  /** Opens a link to whoever is there, or fails; `found` or `failed` follows. */
  find(host: HostAddress): void
  /** The link is no longer needed. */
  drop(peerId: NodeId): void
  /** In [0, 1): spreads reconnects. */
  random(): number
}

interface Host {
  readonly address: HostAddress
  state: 'idle' | 'dialling' | 'found'
  /** While it is found. */
  peerId: NodeId | undefined
  /** When the state began. */
  sinceMs: number
  retryAtMs: number
  failures: number
  /** Others are preferred until then. */
  restsUntilMs: number
}

/**
 * Which of a light node's hosts it is linked to: so many at once, the first in the list that can be had. One that fails is followed
 * by the next at once; one that is slow or withholds messages stays until another is there.
 */
export class HostChoice {
  readonly #atOnce: number
  readonly #limits: HostChoiceLimits
  readonly #modules: HostChoiceModules
  readonly #hosts: readonly Host[]
  #isNeeded = false
  #dueMs = Infinity

  constructor(
    options: {
      readonly hosts: readonly HostAddress[]
      readonly atOnce: number
      readonly limits: HostChoiceLimits
    },
    modules: HostChoiceModules,
  ) {
    this.#atOnce = options.atOnce
    this.#limits = options.limits
    this.#modules = modules
    this.#hosts = options.hosts.map((address) => ({
      address,
      state: 'idle',
      peerId: undefined,
      sinceMs: 0,
      retryAtMs: 0,
      failures: 0,
      restsUntilMs: 0,
    }))
  }

  /** The hosts that were found, the preferred first. */
  get found(): readonly NodeId[] {
    return this.#hosts.flatMap(({ peerId }) => (peerId === undefined ? [] : [peerId]))
  }

  /** When `tick` is due. */
  get dueMs(): number {
    return this.#dueMs
  }

  addressOf(peerId: NodeId): HostAddress | undefined {
    return this.#hostOf(peerId)?.address
  }

  /** Dials, or no longer; links that are open stay until they are unused for a while. */
  need(isNeeded: boolean, nowMs: number): void {
    this.#isNeeded = isNeeded
    this.tick(nowMs)
  }

  tick(nowMs: number): void {
    this.#dueMs = Infinity
    if (!this.#isNeeded) return
    this.#dial(nowMs)
    this.#dropSurplus(nowMs)
    for (const { state, retryAtMs, sinceMs, restsUntilMs } of this.#hosts) {
      const staleMs = state === 'dialling' ? sinceMs + this.#limits.hostStaggerMs : 0
      for (const atMs of [retryAtMs, staleMs, restsUntilMs])
        if (atMs > nowMs) this.#dueMs = Math.min(this.#dueMs, atMs)
    }
  }

  /** Somebody answered at the address. False when the same node was found elsewhere. */
  foundAt(url: string, peerId: NodeId, nowMs: number): boolean {
    const host = this.#at(url)
    if (host === undefined) return false
    if (this.#hostOf(peerId) !== undefined) {
      this.#fail(host, nowMs)
      return false
    }
    Object.assign(host, { state: 'found', peerId, sinceMs: nowMs })
    return true
  }

  failed(url: string, nowMs: number): void {
    const host = this.#at(url)
    if (host !== undefined) this.#fail(host, nowMs)
    this.tick(nowMs)
  }

  /** The link was lost. */
  closed(peerId: NodeId, nowMs: number): void {
    const host = this.#hostOf(peerId)
    if (host === undefined) return
    if (nowMs - host.sinceMs >= this.#limits.hostForgiveMs) host.failures = 0
    this.#fail(host, nowMs)
    this.tick(nowMs)
  }

  /** Others are preferred for a while. */
  rest(peerId: NodeId, nowMs: number): void {
    const host = this.#hostOf(peerId)
    if (host === undefined) return
    host.restsUntilMs = nowMs + this.#limits.hostRestMs
    this.tick(nowMs)
  }

  /** All that failed may be dialled again. */
  networkBack(nowMs: number): void {
    for (const host of this.#hosts) Object.assign(host, { retryAtMs: 0, failures: 0 })
    this.tick(nowMs)
  }

  #fail(host: Host, nowMs: number): void {
    const { minBackoffMs, maxBackoffMs } = this.#limits
    host.failures++
    const pauseMs = backoffMs(host.failures, minBackoffMs, maxBackoffMs) * (1 - this.#modules.random() / 2)
    Object.assign(host, { state: 'idle', peerId: undefined, sinceMs: nowMs, retryAtMs: nowMs + pauseMs })
  }

  #dial(nowMs: number): void {
    const { hostStaggerMs } = this.#limits
    const here = this.#hosts.filter(
      ({ state, sinceMs }) => state === 'found' || (state === 'dialling' && nowMs - sinceMs < hostStaggerMs),
    )
    let count = here.length
    let rested = here.filter((host) => restOf(host, nowMs) === 0).length
    const idle = this.#hosts.filter(({ state, retryAtMs }) => state === 'idle' && retryAtMs <= nowMs)
    for (const host of idle.toSorted((a, b) => restOf(a, nowMs) - restOf(b, nowMs))) {
      const rests = restOf(host, nowMs) > 0
      // One that rests takes the place of nobody.
      if ((rests ? count : rested) >= this.#atOnce) continue
      count++
      if (!rests) rested++
      Object.assign(host, { state: 'dialling', sinceMs: nowMs })
      this.#modules.find(host.address)
    }
  }

  /** With enough others, the one that rests goes, and then the last in the list. */
  #dropSurplus(nowMs: number): void {
    const found = this.#hosts.filter(({ state }) => state === 'found')
    const kept = found.toSorted((a, b) => restOf(a, nowMs) - restOf(b, nowMs)).slice(0, this.#atOnce)
    for (const host of found) {
      if (kept.includes(host) || host.peerId === undefined) continue
      const { peerId } = host
      Object.assign(host, { state: 'idle', peerId: undefined, sinceMs: nowMs, retryAtMs: nowMs })
      this.#modules.drop(peerId)
    }
  }

  #at(url: string): Host | undefined {
    return this.#hosts.find(({ address }) => address.url === url)
  }

  #hostOf(peerId: NodeId): Host | undefined {
    return this.#hosts.find((host) => host.peerId === peerId)
  }
}

function restOf({ restsUntilMs }: Host, nowMs: number): number {
  return restsUntilMs > nowMs ? restsUntilMs : 0
}
