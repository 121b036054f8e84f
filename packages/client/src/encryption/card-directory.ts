import {
  cardHolders,
  isRunnelError,
  keyPartition,
  limits as wireLimits,
  newerCard,
  protocolError,
  protocolErrors,
  toStreamPartId,
  type Card,
  type NodeId,
  type ProtocolErrorCode,
  type RunnelError,
  type StorageAnswer,
  type StreamPartId,
  type WantedNeighbour,
} from '@runnel/protocol'
import type { Clock } from '@runnel/protocol'
import { deadline, throwIfAborted } from '../deadline.ts'
import { asError, clientError, reasonOf } from '../errors.ts'
import type { StorageNodeInfo, StreamInfo } from '../registry/ports.ts'
import type { DirectRequests } from '../resend/direct-requests.ts'
import { toContact, type StorageDirectory } from '../resend/storage-directory.ts'
import type { CardLimits } from './card-limits.ts'
import type { CardCheckModules } from './check-card.ts'
import { KnownCards } from './known-cards.ts'
import type { Cards } from './ports.ts'

export interface CardDirectoryModules extends CardCheckModules {
  readonly requests: Pick<DirectRequests, 'askOnce'>
  readonly directory: Pick<StorageDirectory, 'storageNodes'>
  /** Of this process: it asks others only. */
  readonly nodeId: NodeId
  /** All storage nodes of the network. */
  readonly listStorageNodes: () => Promise<readonly StorageNodeInfo[]>
  readonly clock: Clock
}

/** A storage node, and the stream part whose tracker helps to reach it, if one does. */
interface Holder {
  readonly peer: WantedNeighbour
  readonly streamPartId?: StreamPartId | undefined
}

/** Some users whose cards one storage node may have. */
interface Ask {
  readonly holder: Holder
  readonly userIds: readonly NodeId[]
}

/**
 * Puts cards on storage nodes and finds those of users: on the storage nodes of a stream, and on three of the network that follow from the
 * user's id. Storage nodes are not believed: cards prove themselves, and of several the newest counts.
 */
export class CardDirectory implements Cards {
  readonly #limits: CardLimits
  readonly #modules: CardDirectoryModules
  readonly #known: KnownCards
  #listed: { readonly nodes: Promise<readonly StorageNodeInfo[]>; readonly sinceMs: number } | undefined

  constructor(limits: CardLimits, modules: CardDirectoryModules) {
    this.#limits = limits
    this.#modules = modules
    this.#known = new KnownCards(limits, modules)
  }

  /**
   * Puts a card on its three storage nodes, and those of a stream when one is given. Gives how many have it. Throws CARD_OLDER_GENERATION or
   * CARD_REPLAYED when one has a newer card of the user; NO_STORAGE_NODE or CARD_NOT_KEPT when none has it; ABORTED, or what the registry
   * throws.
   */
  async put(card: Card, stream?: StreamInfo, signal?: AbortSignal): Promise<number> {
    const ofStream = stream === undefined ? [] : await this.#holdersOf(stream, signal)
    const inStream = new Set(ofStream.map(({ peer }) => peer.nodeId))
    const placed = (await this.#placedHolders([card.userId])).map(({ holder }) => holder)
    const others = placed.filter(({ peer }) => !inStream.has(peer.nodeId))
    const holders = [...ofStream, ...others]
    if (holders.length === 0) throw clientError('NO_STORAGE_NODE', 'of the network, which has none')
    const outcomes = await Promise.all(holders.map((holder) => this.#putOn(holder, card, signal)))
    throwIfAborted(signal)
    const claiming = holders.filter((_, index) => isNewerThere(outcomes[index]))
    if (claiming.length > 0) await this.#requireNewest(card, claiming, signal)
    const kept = outcomes.filter((error) => error === undefined).length
    if (kept === 0) throw clientError('CARD_NOT_KEPT', outcomes.map(reasonOf).join('; '))
    return kept
  }

  /**
   * The cards of users, as far as they are found and good: from the stream's storage nodes, then for those missing there from those of the
   * network. Throws CARDS_UNAVAILABLE when some are missing and no storage node answered, ABORTED, or what the registry throws.
   */
  async cardsOf(
    userIds: readonly NodeId[],
    stream?: StreamInfo,
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<NodeId, Card>> {
    const cards = new Map<NodeId, Card>()
    const sinceMs = this.#modules.clock.monotonicMs() - this.#limits.maxCardAgeMs
    for (const userId of userIds) {
      const card = this.#known.get(userId, sinceMs)
      if (card !== undefined) cards.set(userId, card)
    }
    const missing = () => [...new Set(userIds)].filter((userId) => !cards.has(userId))
    const failures: unknown[] = []
    let answers = 0
    const lookUp = async (asks: readonly Ask[]) => {
      const asked = missing()
      const found = await this.#ask(asks, failures, signal)
      answers += found.answers
      await this.#take(
        asked.filter((userId) => found.cards.has(userId)),
        found.cards,
        cards,
      )
    }
    if (missing().length === 0) return cards
    if (stream !== undefined) {
      const holders = (await this.#holdersOf(stream, signal)).slice(0, this.#limits.maxAskedPerUser)
      await lookUp(holders.map((holder) => ({ holder, userIds: missing() })))
    }
    if (missing().length > 0) await lookUp(await this.#placedHolders(missing()))
    throwIfAborted(signal)
    // What storage nodes have lost, or nobody can be asked for now, may be known here.
    await this.#take(missing(), new Map(), cards)
    if (missing().length > 0 && answers === 0 && failures.length > 0)
      // One may have been asked twice.
      throw clientError('CARDS_UNAVAILABLE', [...new Set(failures.map(reasonOf))].join('; '))
    return cards
  }

  /** Throws when a storage node not only says that it has a newer card. */
  async #requireNewest(card: Card, holders: readonly Holder[], signal?: AbortSignal): Promise<void> {
    const { userId } = card
    const { cards } = await this.#ask(
      holders.map((holder) => ({ holder, userIds: [userId] })),
      [],
      signal,
    )
    const nowMs = this.#modules.clock.monotonicMs()
    const newest = await this.#known.newestOf(userId, cards.get(userId) ?? [], nowMs)
    if (newest === undefined || newerCard(card, newest) === card) return
    throw protocolError(
      newest.generation > card.generation ? 'CARD_OLDER_GENERATION' : 'CARD_REPLAYED',
      `of ${userId}`,
    )
  }

  /** Which storage nodes of the network have the cards of users, whatever they read. */
  async #placedHolders(userIds: readonly NodeId[]): Promise<Ask[]> {
    const { nodeId } = this.#modules
    const listed = new Map((await this.#storageNodes()).map((info) => [info.nodeId, info]))
    const ids = [...listed.keys()]
    const byHolder = Map.groupBy(
      userIds.flatMap((userId) => cardHolders(userId, ids).map((id) => ({ id, userId }))),
      ({ id }) => id,
    )
    return [...byHolder].flatMap(([id, of]) => {
      const info = listed.get(id)
      const peer = info === undefined || id === nodeId ? undefined : toContact(info, undefined)
      return peer === undefined ? [] : [{ holder: { peer }, userIds: of.map(({ userId }) => userId) }]
    })
  }

  async #ask(
    asks: readonly Ask[],
    failures: unknown[],
    signal: AbortSignal | undefined,
  ): Promise<{ readonly cards: ReadonlyMap<NodeId, Card[]>; readonly answers: number }> {
    const cards = new Map<NodeId, Card[]>()
    let answers = 0
    const pieces = asks.flatMap(inPieces)
    const worker = async () => {
      for (let piece = pieces.shift(); piece !== undefined; piece = pieces.shift()) {
        throwIfAborted(signal)
        try {
          for (const card of await this.#askOne(piece, signal)) {
            const known = cards.get(card.userId)
            if (known === undefined) cards.set(card.userId, [card])
            else known.push(card)
          }
          answers++
        } catch (error) {
          failures.push(error)
        }
      }
    }
    await Promise.all(Array.from({ length: this.#limits.maxAsks }, worker))
    return { cards, answers }
  }

  /** Only cards that were asked for. */
  async #askOne({ holder, userIds }: Ask, signal: AbortSignal | undefined): Promise<readonly Card[]> {
    const answer = await this.#request(
      holder,
      (requestId) => ({ type: 'askCards', requestId, userIds }) as const,
      signal,
    )
    if (answer.type !== 'cards') throw refusalOf(holder, answer)
    const asked = new Set(userIds)
    return answer.cards.filter(({ userId }) => asked.has(userId))
  }

  /** Checks what was found. Thousands of signatures take a while: others get their turns. */
  async #take(
    userIds: readonly NodeId[],
    found: ReadonlyMap<NodeId, readonly Card[]>,
    cards: Map<NodeId, Card>,
  ): Promise<void> {
    const { clock } = this.#modules
    let turnBeganMs = clock.monotonicMs()
    for (const userId of userIds) {
      const nowMs = clock.monotonicMs()
      const card = await this.#known.newestOf(userId, found.get(userId) ?? [], nowMs)
      if (card !== undefined) cards.set(userId, card)
      if (nowMs - turnBeganMs < this.#limits.maxCheckTurnMs) continue
      await new Promise<void>((resolve) => clock.endOfTurn(resolve))
      turnBeganMs = clock.monotonicMs()
    }
  }

  /** Undefined when it has the card, else why not. */
  async #putOn(holder: Holder, card: Card, signal: AbortSignal | undefined): Promise<Error | undefined> {
    try {
      const answer = await this.#request(
        holder,
        (requestId) => ({ type: 'keepCard', requestId, card }) as const,
        signal,
      )
      return answer.type === 'stored' && answer.code === '' ? undefined : refusalOf(holder, answer)
    } catch (error) {
      return asError(error)
    }
  }

  async #request(
    { peer, streamPartId }: Holder,
    packetOf: Parameters<DirectRequests['askOnce']>[2],
    signal: AbortSignal | undefined,
  ): Promise<StorageAnswer> {
    const { requests, clock } = this.#modules
    const limited = deadline(clock, this.#limits.answerTimeoutMs, signal)
    try {
      return await requests.askOnce(peer, streamPartId, packetOf, limited.signal)
    } catch (error) {
      throwIfAborted(signal)
      if (!limited.signal.aborted) throw error
      throw clientError('STORAGE_SILENT', `${peer.nodeId}, for ${this.#limits.answerTimeoutMs} ms`)
    } finally {
      limited.end()
    }
  }

  /** The storage nodes of a stream. */
  async #holdersOf(stream: StreamInfo, signal: AbortSignal | undefined): Promise<Holder[]> {
    const { directory, clock } = this.#modules
    const limited = deadline(clock, this.#limits.answerTimeoutMs, signal)
    try {
      const peers = await directory.storageNodes(stream, keyPartition, limited.signal)
      const streamPartId = toStreamPartId(stream.id, keyPartition)
      return peers.map((peer) => ({ peer, streamPartId }))
    } finally {
      limited.end()
    }
  }

  /** Of the network. */
  #storageNodes(): Promise<readonly StorageNodeInfo[]> {
    const { clock, listStorageNodes } = this.#modules
    const nowMs = clock.monotonicMs()
    const known = this.#listed
    if (known !== undefined && nowMs - known.sinceMs < this.#limits.maxStorageNodesAgeMs) return known.nodes
    const listed = { nodes: listStorageNodes(), sinceMs: nowMs }
    this.#listed = listed
    listed.nodes.catch(() => {
      if (this.#listed === listed) this.#listed = undefined
    })
    return listed.nodes
  }
}

function inPieces({ holder, userIds }: Ask): Ask[] {
  const { maxCards } = wireLimits
  return Array.from({ length: Math.ceil(userIds.length / maxCards) }, (_, index) => {
    return { holder, userIds: userIds.slice(index * maxCards, (index + 1) * maxCards) }
  })
}

function isNewerThere(error: unknown): boolean {
  return isRunnelError(error, 'CARD_OLDER_GENERATION') || isRunnelError(error, 'CARD_REPLAYED')
}

/** What was answered instead: of a card its own error, with its remedy. */
function refusalOf({ peer }: Holder, answer: StorageAnswer): RunnelError {
  const { code, text } = answer.type === 'stored' ? answer : { code: answer.type, text: '' }
  const detail = `${peer.nodeId} answered ${code}${text === '' ? '' : `: ${text}`}`
  if (code.startsWith('CARD_') && Object.hasOwn(protocolErrors, code))
    return protocolError(code as ProtocolErrorCode, detail)
  return clientError('CARD_NOT_KEPT', detail)
}
