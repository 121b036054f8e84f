import type { NetworkNode } from '@runnel/network'
import {
  TokenBucket,
  type AskCards,
  type Cards,
  type Clock,
  type DirectPacket,
  type KeepCard,
  type NodeId,
  type Stored,
} from '@runnel/protocol'
import { storageError } from '../errors.ts'
import type { Answers } from '../server/answers.ts'
import type { LinkSignals } from '../server/link-signals.ts'
import { refusalOf } from '../server/refusal.ts'
import { Slots } from '../server/slots.ts'
import type { StorageLimits } from '../storage-limits.ts'
import type { CardKeeper } from './card-keeper.ts'

export interface CardServerModules {
  readonly network: Pick<NetworkNode, 'hold'>
  readonly answers: Answers
  readonly links: LinkSignals
  readonly cards: Pick<CardKeeper, 'keep' | 'of'>
  readonly clock: Pick<Clock, 'monotonicMs'>
  /** Hears of what is not the asker's fault. */
  readonly onError: (error: unknown) => void
}

/** How often its peer may still ask. */
interface Allowance {
  readonly cards: TokenBucket
  readonly asks: TokenBucket
}

/** Answers `keepCard` and `askCards` of everybody who has a link: cards are public, and prove themselves. */
export class CardServer {
  readonly #limits: StorageLimits
  readonly #modules: CardServerModules
  readonly #slots: Slots
  /** Of each open link. */
  readonly #allowances = new Map<NodeId, Allowance>()
  readonly #running = new Set<Promise<void>>()
  #refused = 0
  #stopped = false

  constructor(limits: StorageLimits, modules: CardServerModules) {
    this.#limits = limits
    this.#modules = modules
    this.#slots = new Slots({ total: limits.maxCardRequests, perPeer: limits.maxCardRequestsPerPeer })
  }

  /** Requests refused because there were too many. */
  get refused(): number {
    return this.#refused
  }

  /** Takes every packet of a direct link and ignores those that are no questions about cards. */
  handle(peerId: NodeId, packet: DirectPacket): void {
    if (packet.type === 'keepCard') this.#run(peerId, packet, () => this.#keep(packet))
    if (packet.type === 'askCards') this.#run(peerId, packet, () => this.#answer(packet))
  }

  linkClosed(peerId: NodeId): void {
    this.#allowances.delete(peerId)
  }

  /** Resolves when what is under way has ended. Idempotent. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#modules.links.end(storageError('SHUTTING_DOWN'))
    await Promise.all(this.#running)
  }

  #run(peerId: NodeId, packet: KeepCard | AskCards, work: () => Promise<Cards | Stored>): void {
    const running = this.#serve(peerId, packet, work).finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  async #serve(
    peerId: NodeId,
    packet: KeepCard | AskCards,
    work: () => Promise<Cards | Stored>,
  ): Promise<void> {
    const { network, answers, links } = this.#modules
    const signal = links.of(peerId)
    const refused = (code: 'SHUTTING_DOWN' | 'TOO_MANY_REQUESTS') =>
      answers.sendUncounted(peerId, this.#refusal(packet, storageError(code)), signal)
    if (this.#stopped) return refused('SHUTTING_DOWN')
    const leave = this.#isWithinRate(this.#allowanceOf(peerId), packet) ? this.#slots.take(peerId) : undefined
    if (leave === undefined) {
      this.#refused++
      return refused('TOO_MANY_REQUESTS')
    }
    const letGo = network.hold(peerId)
    try {
      // Anybody may ask, and let the answers wait: others are served meanwhile.
      const answer = await work()
        .catch((error: unknown) => this.#refusal(packet, error))
        .finally(leave)
      await answers.sendUncounted(peerId, answer, signal)
    } finally {
      letGo()
    }
  }

  #allowanceOf(peerId: NodeId): Allowance {
    const known = this.#allowances.get(peerId)
    if (known !== undefined) return known
    const { cardBurst, cardsPerSecond, cardAskBurst, cardAsksPerSecond } = this.#limits
    const nowMs = this.#modules.clock.monotonicMs()
    const allowance = {
      cards: new TokenBucket({ burst: cardBurst, perSecond: cardsPerSecond }, nowMs),
      asks: new TokenBucket({ burst: cardAskBurst, perSecond: cardAsksPerSecond }, nowMs),
    }
    this.#allowances.set(peerId, allowance)
    return allowance
  }

  #isWithinRate({ cards, asks }: Allowance, { type }: KeepCard | AskCards): boolean {
    return (type === 'keepCard' ? cards : asks).take(this.#modules.clock.monotonicMs())
  }

  async #keep({ requestId, card }: KeepCard): Promise<Stored> {
    await this.#modules.cards.keep(card)
    return { type: 'stored', requestId, code: '', text: '' }
  }

  async #answer({ requestId, userIds }: AskCards): Promise<Cards> {
    return { type: 'cards', requestId, cards: await this.#modules.cards.of(userIds) }
  }

  /** Why there is no other answer. */
  #refusal({ requestId }: KeepCard | AskCards, error: unknown): Stored {
    const { code, text, isOurs } = refusalOf(error)
    if (isOurs) this.#modules.onError(error)
    return { type: 'stored', requestId, code, text }
  }
}
