import {
  compareRefs,
  decodeBatch,
  epochChain,
  keyPartition,
  toEpochId,
  toStreamPartId,
  type Card,
  type Clock,
  type EpochId,
  type NodeId,
  type Random,
  type StreamId,
  type StreamMessage,
  type StreamPartId,
} from '@runnel/protocol'
import {
  noPermissions,
  type Permissions,
  type StreamInfo,
} from '../../../../packages/client/src/registry/ports.ts'
// Loaded now: it takes no part of a run that only some of them have.
import '../../../../packages/client/src/encryption/encrypted-streams.ts'
import '../../../../packages/client/src/encryption/hpke-noble.ts'

/** A process that hears of the registry's changes until it is stopped. */
export interface StreamUser {
  told(user: NodeId): void
  stop(): void
}

export interface SealedStreamOptions {
  readonly streamId: StreamId
  readonly history: 'all' | 'none'
  readonly keyHolder?: NodeId | undefined
}

/** Turns of the event loop after which everything that was begun waits for virtual time. */
const settleTurns = 3

/** An encrypted stream: its registry, the cards of its users, and a storage node that has each record as soon as it is published. */
export class SealedStream {
  readonly info: StreamInfo
  readonly history: 'all' | 'none'
  readonly keyHolder: NodeId | undefined
  readonly part: StreamPartId
  readonly keyPart: StreamPartId
  readonly rights = new Map<NodeId, Permissions>()
  readonly cards = new Map<NodeId, Card>()
  readonly users = new Set<StreamUser>()
  /** Who opened each epoch. */
  readonly openers = new Map<EpochId, NodeId>()
  readonly clock: Clock
  /** Of the chain that the registry is on, and the one in which somebody lost the permission to read last. */
  block = 0
  lossBlock = 0
  /** When each user lost the permission to read, and got it, the last time. */
  readonly #lostMs = new Map<NodeId, number>()
  readonly #gainedMs = new Map<NodeId, number>()
  /** Of each chain of the key part. */
  readonly #newest = new Map<string, StreamMessage>()
  readonly #getRandomValues = globalThis.crypto.getRandomValues
  #isBusy = false

  constructor(
    { streamId, history, keyHolder }: SealedStreamOptions,
    modules: { clock: Clock; random: Random },
  ) {
    const { clock, random } = modules
    const metadata = JSON.stringify({ encryption: { history, keyHolder } })
    this.info = { id: streamId, partitions: 1, metadata, trackers: [], createdMs: 0 }
    this.history = history
    this.keyHolder = keyHolder
    this.part = toStreamPartId(streamId, 0)
    this.keyPart = toStreamPartId(streamId, keyPartition)
    const timed = (fn: () => void) => () => {
      this.begin()
      fn()
    }
    this.clock = {
      now: () => clock.now(),
      monotonicMs: () => clock.monotonicMs(),
      schedule: (delayMs, fn) => clock.schedule(delayMs, timed(fn)),
      endOfTurn: (fn) => clock.endOfTurn(timed(fn)),
    }
    // What libraries draw is of the seed, too.
    globalThis.crypto.getRandomValues = <T>(array: T): T => {
      if (ArrayBuffer.isView(array))
        new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(random.bytes(array.byteLength))
      return array
    }
  }

  /** Something is begun that may go on for some turns of the event loop. */
  begin(): void {
    this.#isBusy = true
  }

  /** Resolves when what was begun waits for time to pass; undefined when nothing was. */
  settled(): Promise<void> | undefined {
    if (!this.#isBusy) return undefined
    this.#isBusy = false
    return turns(settleTurns)
  }

  /** Everybody hears of it at once. */
  setReads(userId: NodeId, isReader: boolean): void {
    this.begin()
    if (isReader !== this.reads(userId))
      (isReader ? this.#gainedMs : this.#lostMs).set(userId, this.clock.monotonicMs())
    this.block++
    if (!isReader && this.reads(userId)) this.lossBlock = this.block
    const publishUntilMs = Infinity
    this.rights.set(userId, {
      ...{ ...noPermissions, publishUntilMs },
      subscribeUntilMs: isReader ? Infinity : 0,
      grant: userId === this.keyHolder,
    })
    for (const user of this.users) user.told(userId)
  }

  reads(userId: NodeId): boolean {
    return (this.rights.get(userId)?.subscribeUntilMs ?? 0) > 0
  }

  /** Whether a user could read at any time since then. */
  readSince(userId: NodeId, sinceMs: number): boolean {
    return this.reads(userId) || (this.#lostMs.get(userId) ?? -Infinity) >= sinceMs
  }

  /** Whether a user could read at all times since then. */
  readAlwaysSince(userId: NodeId, sinceMs: number): boolean {
    return this.reads(userId) && (this.#gainedMs.get(userId) ?? Infinity) < sinceMs
  }

  store(bytes: Uint8Array): void {
    const [message] = decodeBatch(bytes).messages
    if (message === undefined) return
    const { publisherId, messageChainId } = message
    const epochId = toEpochId(messageChainId.slice(1))
    if (epochId !== undefined && messageChainId === epochChain(epochId))
      this.openers.set(epochId, publisherId)
    const name = `${publisherId} ${messageChainId}`
    const known = this.#newest.get(name)
    if (known === undefined || compareRefs(known, message) < 0) this.#newest.set(name, message)
  }

  /** The oldest first. */
  stored(publisherId: NodeId | undefined, messageChainId: string | undefined): readonly StreamMessage[] {
    return [...this.#newest.values()]
      .filter(
        (one) =>
          (publisherId === undefined || one.publisherId === publisherId) &&
          (messageChainId === undefined || one.messageChainId === messageChainId),
      )
      .sort(compareRefs)
  }

  /** Of all its users; chance is chance again. */
  stop(): void {
    for (const user of [...this.users]) user.stop()
    globalThis.crypto.getRandomValues = this.#getRandomValues
  }
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}
