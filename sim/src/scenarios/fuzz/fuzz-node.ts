import { ChainOrder, type ChainOrderLimits, type JoinOptions, type Ordered } from '@runnel/network'
import type { Instruction, NodeId, StreamMessage, StreamPartId } from '@runnel/protocol'
import { AuthenticChecker } from '../../measures/invariants/authentic.ts'
import type { Breaches } from '../../measures/invariants/breaches.ts'
import { DeliveryChecker } from '../../measures/invariants/delivery.ts'
import type { NoiselessChecker } from '../../measures/invariants/noiseless.ts'
import type { PublishedMessages } from '../../measures/invariants/published.ts'
import type { SealedUser } from '../../world/sealed/sealed-user.ts'
import type { SimNode } from '../../world/world.ts'

export interface FuzzNodeModules {
  readonly breaches: Breaches
  readonly published: PublishedMessages
  readonly noiseless: NoiselessChecker
  readonly orderLimits: ChainOrderLimits
  /** Whether a peer only does what a node should. */
  isHonest(nodeId: NodeId): boolean
  /** Of an attacker who may publish nothing is known that it should have published. */
  mayPublishAnything(publisherId: NodeId): boolean
  onGiven(nodeId: NodeId, item: Ordered): void
  /** A message came from another node. */
  onTook?(nodeId: NodeId, id: StreamPartId, message: StreamMessage, from: NodeId): void
  /** The encrypted stream, where there is one. */
  readonly sealed?: SealedParts | undefined
}

export interface SealedParts {
  readonly part: StreamPartId
  readonly keyPart: StreamPartId
  /** What the client does for the node's user from now on. */
  newUser(node: FuzzNode): SealedUser
  /** A record was not held while its publisher was looked up: in a key part nothing is sent again. */
  onRefused(): void
}

/** One stay in a stream part. */
interface Stay {
  readonly order: ChainOrder
  readonly authentic: AuthenticChecker
  readonly delivery: DeliveryChecker
  /** By the last instruction. */
  wanted: ReadonlySet<NodeId>
}

/** An honest node, and an application that reads all that it joins, with a checker at each door. */
export class FuzzNode {
  readonly sim: SimNode
  readonly #modules: FuzzNodeModules
  readonly #stays = new Map<StreamPartId, Stay>()
  /** While it is in the encrypted stream. */
  #user: SealedUser | undefined

  constructor(sim: SimNode, modules: FuzzNodeModules) {
    this.sim = sim
    this.#modules = modules
    const { node } = sim
    node.on('message', ({ streamPartId, message, from }) => {
      const stay = this.#stays.get(streamPartId)
      if (stay === undefined) return modules.breaches.report('noiseless', `${streamPartId} at ${this.nodeId}`)
      // A node knows its own messages before they are in the list of published ones.
      if (from === undefined) return
      if (!modules.mayPublishAnything(message.publisherId)) stay.authentic.took(message)
      modules.onTook?.(this.nodeId, streamPartId, message, from)
      if (streamPartId === modules.sealed?.keyPart) return this.#user?.receivedRecord(message)
      if (streamPartId === modules.sealed?.part) this.#user?.received(message)
      this.#push(stay, message)
    })
    node.on('gap', ({ streamPartId, chain, after, upTo }) => {
      const stay = this.#stays.get(streamPartId)
      if (stay === undefined) return
      stay.delivery.lost({ chain, after, upTo })
      this.#give(stay, stay.order.gap(chain, after, upTo))
    })
    node.on('dropped', (counter, detail) => this.#dropped(counter, detail))
  }

  get nodeId(): NodeId {
    return this.sim.nodeId
  }

  /** Those that its application joined: the key part comes and goes by itself. */
  get streamParts(): readonly StreamPartId[] {
    return [...this.#stays.keys()].filter((id) => id !== this.#modules.sealed?.keyPart)
  }

  get user(): SealedUser | undefined {
    return this.#user
  }

  /** What its tracker told it. */
  instructed({ streamPartId, neighbours }: Instruction): void {
    const stay = this.#stays.get(streamPartId)
    if (stay !== undefined) stay.wanted = new Set(neighbours.map(({ nodeId }) => nodeId))
  }

  /** Whether it was told to have this neighbour. */
  wants(id: StreamPartId, peerId: NodeId): boolean {
    return this.#stays.get(id)?.wanted.has(peerId) ?? false
  }

  /** Messages held back in each stream part. */
  get held(): readonly number[] {
    return Array.from(this.#stays.values(), ({ order }) => order.held)
  }

  isIn(id: StreamPartId): boolean {
    return this.#stays.has(id)
  }

  join(id: StreamPartId): void {
    this.#enter(id)
    const { sealed } = this.#modules
    if (id === sealed?.part) this.#user = sealed.newUser(this)
  }

  joinKeyPart(): void {
    const { sealed } = this.#modules
    if (sealed !== undefined) this.#enter(sealed.keyPart, { fillGaps: false })
  }

  leaveKeyPart(): void {
    const { sealed } = this.#modules
    if (sealed !== undefined && this.isIn(sealed.keyPart)) this.#exit(sealed.keyPart)
  }

  leave(id: StreamPartId): void {
    if (id === this.#modules.sealed?.part) {
      this.#user?.stop()
      this.#user = undefined
    }
    this.#exit(id)
  }

  #enter(id: StreamPartId, options: JoinOptions = {}): void {
    const { nodeId } = this
    const { breaches, published, noiseless, orderLimits } = this.#modules
    const { node } = this.sim
    this.#stays.set(id, {
      order: new ChainOrder(orderLimits, {
        isMissing: (chain, place) => node.isMissing(id, chain, place),
      }),
      authentic: new AuthenticChecker(nodeId, { breaches, published }),
      delivery: new DeliveryChecker(nodeId, { breaches, published }),
      wanted: new Set(),
    })
    noiseless.joined(nodeId, id)
    node.join(id, options)
  }

  #exit(id: StreamPartId): void {
    this.sim.node.leave(id)
    this.#stays.delete(id)
    this.#modules.noiseless.left(this.nodeId, id)
  }

  /** Messages of honest publishers that it took during this stay. */
  taken(id: StreamPartId): number {
    return this.#stays.get(id)?.authentic.taken ?? 0
  }

  /**
   * Whether it took a message of another node during this stay. In a key part a later record of its chain takes its place: one that waits
   * while its publisher is looked up may be overtaken, and is then of no use.
   */
  has(id: StreamPartId, key: string): boolean {
    const { authentic } = this.#stays.get(id) ?? {}
    const isReplaced = id === this.#modules.sealed?.keyPart && authentic?.hasLater(key)
    return authentic?.has(key) === true || isReplaced === true
  }

  neighbours(id: StreamPartId): ReadonlySet<NodeId> {
    const part = this.sim.node.metrics().streamParts.find(({ streamPartId }) => streamPartId === id)
    return new Set(part?.neighbours.map(({ nodeId }) => nodeId))
  }

  #push(stay: Stay, message: StreamMessage): void {
    const { passedOver } = stay.order.counters
    const items = stay.order.push(message)
    this.#give(stay, items, stay.order.counters.passedOver > passedOver)
  }

  #give({ delivery }: Stay, items: readonly Ordered[], isForced = false): void {
    for (const item of items) {
      const { publisherId } = item.kind === 'gap' ? item.chain : item.message
      if (!this.#modules.mayPublishAnything(publisherId)) delivery.given(item, isForced)
      this.#modules.onGiven(this.nodeId, item)
    }
  }

  #dropped(counter: string, detail: string): void {
    const { breaches, isHonest, sealed } = this.#modules
    if (counter === 'held.refused' && sealed !== undefined && detail.endsWith(sealed.keyPart))
      sealed.onRefused()
    if (counter === 'listener.failed') breaches.report('no exception', `${this.nodeId}: ${detail}`)
    const peer = detail.slice(0, detail.indexOf(':'))
    if (counter === 'peers.misbehaved' && isHonest(peer as NodeId))
      breaches.report('innocent', `${this.nodeId} says of an honest node that it misbehaved: ${detail}`)
  }
}
