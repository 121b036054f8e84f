import {
  toStreamId,
  type BuiltBatch,
  type NodeId,
  type Random,
  type StreamMessage,
  type StreamPartId,
} from '@runnel/protocol'
import type { Breaches } from '../../measures/invariants/breaches.ts'
import { SecretChecker, type SealedMessage } from '../../measures/invariants/secret.ts'
import { SealedStream } from '../../world/sealed/sealed-stream.ts'
import { sealedAccount, SealedUser } from '../../world/sealed/sealed-user.ts'
import type { World } from '../../world/world.ts'
import type { FuzzNode, SealedParts } from './fuzz-node.ts'
import { chance, type SealedPlan } from './fuzz-plan.ts'

export interface SealedWorldModules {
  readonly world: World
  readonly random: Random
  readonly breaches: Breaches
  readonly nodes: ReadonlyMap<NodeId, FuzzNode>
  /** A batch of the stream or its key part. */
  publish: (node: FuzzNode, id: StreamPartId, batch: BuiltBatch) => void
  /** A record may be lost: the overlay of the key part changes, or somebody has no room for one. */
  onDisturbed: () => void
  onOpened: (userId: NodeId, message: StreamMessage, content: Uint8Array) => void
}

/** Of its users at first. */
const mayReadShare = 0.7

/** The encrypted stream of a world: who may read it, and whether they can, and nobody else. */
export class SealedWorld {
  readonly stream: SealedStream
  readonly #modules: SealedWorldModules
  readonly #checker: SecretChecker
  #retriedMs = 0
  /** Epochs whose keys somebody had who was there when it was tried again. */
  #givable: ReadonlySet<string> = new Set()

  constructor({ history, hasHolder }: SealedPlan, modules: SealedWorldModules) {
    const { world, breaches } = modules
    const streamId = toStreamId(`${world.trackerId}/sealed`)
    const keyHolder = hasHolder ? world.identity('node 0').nodeId : undefined
    const { clock } = world
    this.stream = new SealedStream(
      { streamId, history, keyHolder },
      { clock, random: world.random('libraries') },
    )
    this.#modules = modules
    this.#checker = new SecretChecker({
      breaches,
      readSince: (userId, sinceMs) => this.stream.readSince(userId, sinceMs),
      mustRead: (userId, message) => this.#mustRead(userId, message),
    })
  }

  /** Messages that were opened. */
  get opened(): number {
    return this.#checker.opened
  }

  /** For a new node, whose user has a card and may read or not. */
  async partsFor(name: string): Promise<SealedParts> {
    const { stream } = this
    const { world, random, publish, onDisturbed, onOpened } = this.#modules
    const { crypto } = world
    const account = await sealedAccount(world.identity(name), world.random(`reading key of ${name}`), crypto)
    const { userId } = account.card
    stream.cards.set(userId, account.card)
    stream.setReads(userId, userId === stream.keyHolder || chance(mayReadShare, random))
    let processes = 0
    return {
      ...{ part: stream.part, keyPart: stream.keyPart },
      onRefused: onDisturbed,
      newUser: (node) => {
        const user = new SealedUser({
          ...{ stream, account, crypto, random: world.random(`user ${name} ${processes++}`) },
          joinKeyPart: () => {
            onDisturbed()
            node.joinKeyPart()
          },
          leaveKeyPart: () => {
            onDisturbed()
            node.leaveKeyPart()
          },
          publish: (id, batch) => publish(node, id, batch),
          onSealed: (message, content, sinceMs) => this.#checker.sealed(message, content, sinceMs),
          onOpened: (message, content) => {
            this.#checker.openedBy(userId, message, content)
            onOpened(userId, message, content)
          },
        })
        user.attend()
        if (userId === stream.keyHolder) user.hold()
        return user
      },
    }
  }

  /** The key holder keeps its permission. */
  grantOrRevoke(userId: NodeId): void {
    if (userId !== this.stream.keyHolder) this.stream.setReads(userId, !this.stream.reads(userId))
  }

  /** Who has something that it could not open tries again. */
  async retry(): Promise<void> {
    this.#retriedMs = this.stream.clock.monotonicMs()
    this.#givable = await this.#givableNow()
    for (const user of this.#users) user.retry()
  }

  /** Some time after that. */
  check(): void {
    for (const user of this.#users) this.#checker.unopened(user.userId, user.unopened)
  }

  get #users(): readonly SealedUser[] {
    return [...this.#modules.nodes.values()].flatMap(({ user }) => user ?? [])
  }

  /**
   * Who may read, while the publisher is there, and somebody to answer; without history only what was sealed since. A publisher that may not
   * read seals in the key holder's epoch and has only its own key in it: while the holder is away, it has nothing for a reader who came since.
   */
  #mustRead(userId: NodeId, { publisherId, sinceMs, keyId }: SealedMessage): boolean {
    const { stream } = this
    if (!this.#isThere(publisherId) || !this.#givable.has(keyId) || sinceMs > this.#retriedMs) return false
    return stream.history === 'all' ? stream.reads(userId) : stream.readAlwaysSince(userId, sinceMs)
  }

  #isThere(userId: NodeId): boolean {
    return this.#modules.nodes.get(userId)?.user !== undefined
  }

  /** Epochs of openers that are there, and those whose keys somebody in the key part was given. */
  async #givableNow(): Promise<ReadonlySet<string>> {
    const { openers, keyPart } = this.stream
    const inKeyPart = [...this.#modules.nodes.values()].filter((node) => node.isIn(keyPart))
    const givable = new Set<string>()
    for (const [id, openerId] of openers) {
      const known = await Promise.all(inKeyPart.map(async ({ user }) => user?.hasKey(id)))
      if (this.#isThere(openerId) || known.includes(true)) givable.add(id)
    }
    return givable
  }
}
