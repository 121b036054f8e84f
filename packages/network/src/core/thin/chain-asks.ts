import { limits as wireLimits, type NodeId } from '@runnel/protocol'
import type { Counters } from '../counters.ts'
import type { OverlayEffects } from '../overlay-effects.ts'
import type { Ask } from './chain-ways.ts'
import type { ThinChain } from './thin-chains.ts'

export interface ChainAsksLimits {
  readonly thinLeaseMs: number
}

export interface ChainAsksModules {
  readonly effects: Pick<OverlayEffects, 'sendControl'>
  readonly counters: Counters
  /** Whether a neighbour knows what this asks for. */
  canThin(peerId: NodeId): boolean
  /** Whether a neighbour knows batches whose header is an alias. */
  canShorten(peerId: NodeId): boolean
}

/** A chain that neighbours may be asked about. */
export type AskableChain = Pick<ThinChain, 'part' | 'id' | 'alias' | 'knownUntilMs'>

/** Tells neighbours what this node wants of them of a chain, and the alias by which it knows the chain. */
export class ChainAsks {
  readonly #limits: ChainAsksLimits
  readonly #modules: ChainAsksModules

  constructor(limits: ChainAsksLimits, modules: ChainAsksModules) {
    this.#limits = limits
    this.#modules = modules
  }

  /** One that has not got the capability sends copies, whatever it is asked. */
  send(chain: AskableChain, asks: readonly Ask[], nowMs: number): void {
    for (const ask of asks) {
      if (!chain.part.attached.includes(ask.peerId) || !this.#modules.canThin(ask.peerId)) continue
      this.#modules.counters[ask.mode === 'eager' ? 'thin.grafted' : 'thin.asked']++
      this.#send(chain, ask, nowMs)
    }
  }

  /** A neighbour has gone: what it announced and was asked for counts no more, and others may have to bring more. */
  gone(chain: AskableChain & Pick<ThinChain, 'announced' | 'ways'>, peerId: NodeId, nowMs: number): void {
    chain.announced.gone(peerId)
    chain.knownUntilMs.delete(peerId)
    this.send(chain, chain.ways.gone(peerId, nowMs), nowMs)
  }

  /** A neighbour that sends copies may do so by the alias in place of the header. A feeder brings them as well, but is sent nothing. */
  name(chain: ThinChain, peerId: NodeId, nowMs: number): void {
    const leftMs = (chain.knownUntilMs.get(peerId) ?? nowMs) - nowMs
    if (leftMs > this.#limits.thinLeaseMs / 2 || !this.#modules.canShorten(peerId)) return
    if (!chain.part.attached.includes(peerId)) return
    if (chain.ways.modeOf(peerId, nowMs) === 'eager') this.#send(chain, { peerId, mode: 'eager' }, nowMs)
  }

  #send({ part, id, alias, knownUntilMs }: AskableChain, { peerId, mode }: Ask, nowMs: number): void {
    const forMs = Math.min(wireLimits.maxThinMs, this.#limits.thinLeaseMs)
    knownUntilMs.set(peerId, nowMs + forMs)
    const packet = { streamPartId: part.id, ...id, alias, mode, forMs }
    this.#modules.effects.sendControl(peerId, { type: 'thin', ...packet })
  }
}
