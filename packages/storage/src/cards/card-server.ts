import type { NetworkNode } from '@runnel/network'
import {
  TokenBucket,
  type AskCards,
  type Clock,
  type DirectPacket,
  type KeepCard,
  type NodeId,
} from '@runnel/protocol'
import { storageError } from '../errors.ts'
import { refusalOf } from '../server/refusal.ts'
import { Slots } from '../server/slots.ts'
import type { StorageLimits } from '../storage-limits.ts'
import type { CardKeeper } from './card-keeper.ts'

export interface CardServerModules {
  readonly network: Pick<NetworkNode, 'hold' | 'sendDirect'>
  readonly cards: Pick<CardKeeper, 'keep' | 'of'>
  readonly clock: Pick<Clock, 'monotonicMs'>
  /** Hears of what is not the asker's fault. */
  readonly onError: (error: unknown) => void
}

interface Rates {
  readonly cards: TokenBucket
  readonly asks: TokenBucket
}

/** Answers `keepCard` and `askCards` of everybody who has a link: cards are public, and prove themselves. */
export class CardServer {
  readonly #limits: StorageLimits
  readonly #modules: CardServerModules
  readonly #slots: Slots
  /** Of the open links. */
  readonly #rates = new Map<NodeId, Rates>()
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
    if (packet.type === 'keepCard') this.#run(peerId, packet, () => this.#keep(peerId, packet))
    if (packet.type === 'askCards') this.#run(peerId, packet, () => this.#answer(peerId, packet))
  }

  linkClosed(peerId: NodeId): void {
    this.#rates.delete(peerId)
  }

  /** Resolves when what is under way has ended. Idempotent. */
  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#running)
  }

  #run(peerId: NodeId, packet: KeepCard | AskCards, work: () => Promise<void>): void {
    if (this.#stopped) return this.#say(peerId, packet, storageError('SHUTTING_DOWN'))
    const leave = this.#isWithinRate(peerId, packet) ? this.#slots.take(peerId) : undefined
    if (leave === undefined) {
      this.#refused++
      return this.#say(peerId, packet, storageError('TOO_MANY_REQUESTS'))
    }
    const letGo = this.#modules.network.hold(peerId)
    const running = work()
      .catch((error: unknown) => this.#say(peerId, packet, error))
      .finally(() => {
        letGo()
        leave()
        this.#running.delete(running)
      })
    this.#running.add(running)
  }

  #isWithinRate(peerId: NodeId, { type }: KeepCard | AskCards): boolean {
    const { cardBurst, cardsPerSecond, cardAskBurst, cardAsksPerSecond } = this.#limits
    const nowMs = this.#modules.clock.monotonicMs()
    const rates = this.#rates.get(peerId) ?? {
      cards: new TokenBucket({ burst: cardBurst, perSecond: cardsPerSecond }, nowMs),
      asks: new TokenBucket({ burst: cardAskBurst, perSecond: cardAsksPerSecond }, nowMs),
    }
    this.#rates.set(peerId, rates)
    return (type === 'keepCard' ? rates.cards : rates.asks).take(nowMs)
  }

  async #keep(peerId: NodeId, packet: KeepCard): Promise<void> {
    await this.#modules.cards.keep(packet.card)
    this.#modules.network.sendDirect(peerId, {
      type: 'stored',
      requestId: packet.requestId,
      code: '',
      text: '',
    })
  }

  async #answer(peerId: NodeId, { requestId, userIds }: AskCards): Promise<void> {
    const cards = await this.#modules.cards.of(userIds)
    this.#modules.network.sendDirect(peerId, { type: 'cards', requestId, cards })
  }

  /** Why there is no other answer. */
  #say(peerId: NodeId, { requestId }: KeepCard | AskCards, error: unknown): void {
    const { code, text, isOurs } = refusalOf(error)
    if (isOurs) this.#modules.onError(error)
    this.#modules.network.sendDirect(peerId, { type: 'stored', requestId, code, text })
  }
}
