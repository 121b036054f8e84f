import type { StorageNodeInfo } from '@runnel/client'
import {
  decodeBatch,
  type Clock,
  type DelegationRef,
  type MessageBatch,
  type MessageChain,
  type NodeId,
  type StreamPartId,
} from '@runnel/protocol'
import { storageError } from '../errors.ts'
import type { StorageLimits } from '../storage-limits.ts'
import type { MessageStore } from '../store/message-store.ts'
import { countedBytes } from '../store/stored-delegations.ts'
import { nextTurn } from '../waiting.ts'
import { ahead } from './ahead.ts'
import type { CheckedBatch, CopyPlace } from './check-batch.ts'
import type { RepairSource } from './repair-source.ts'

export interface CopyRequest {
  readonly streamPartId: StreamPartId
  /** The storage nodes to ask, and the time to start from for each. */
  readonly nodes: readonly { readonly node: StorageNodeInfo; readonly sinceMs: number }[]
  readonly toMs: number
  /** Only this chain. */
  readonly chain?: MessageChain | undefined
  /** About so many bytes from each. */
  readonly maxBytes: number
  /** How long each may take. */
  readonly maxMs: number
  /** Storage nodes that must have a batch of a publisher whose permission has ended. */
  readonly witnesses: number
}

/** Checks of batches of one storage node at a time: each may ask the registry about its publisher. */
const maxCheckedAhead = 32

export interface CopyModules {
  readonly store: Pick<MessageStore, 'append'>
  readonly source: RepairSource
  readonly clock: Clock
  readonly limits: Pick<
    StorageLimits,
    'maxAppendBytes' | 'maxAppendBatches' | 'maxRefusedPerTurn' | 'maxCheckedAheadBytes'
  >
  /** A batch that may be stored, or undefined. */
  readonly check: (bytes: Uint8Array, place: CopyPlace) => Promise<CheckedBatch | undefined>
  readonly events: {
    copied(from: NodeId, batches: number): void
    refused(batches: number): void
    failed(from: NodeId, error: unknown): void
  }
}

export interface CopyResult {
  /** Nodes that could not be asked, took too long or sent too much that may not be stored. */
  readonly failed: ReadonlySet<NodeId>
  /** For nodes that have more: the time to continue from. */
  readonly restFromMs: ReadonlyMap<NodeId, number>
  /** Some of that can be asked for at once: the bytes of this turn were used up. */
  readonly hasMore: boolean
  /** Too few nodes gave some of the batches, and some of the others failed. */
  readonly isUndecided: boolean
}

/**
 * Copies a range of time from several storage nodes, one after the other. The first may send a limited number of bytes; the
 * others are asked only for the range that it covered. Batches that need several witnesses are stored once enough nodes have
 * given them. A node that is slow or sends invalid batches is left after a while and continued another time. Rejects only with
 * what the store throws.
 */
export async function copyBatches(
  request: CopyRequest,
  modules: CopyModules,
  signal: AbortSignal,
): Promise<CopyResult> {
  const { nodes, maxBytes, witnesses } = request
  const { events } = modules
  const failed = new Set<NodeId>()
  const restFromMs = new Map<NodeId, number>()
  const doubtful = new DoubtfulBatches(maxBytes)
  const complete: NodeId[] = []
  let { toMs } = request
  for (const { node, sinceMs } of nodes) {
    if (sinceMs > toMs) {
      // Its turn comes when the others are as far.
      restFromMs.set(node.nodeId, sinceMs)
      continue
    }
    const { error, reachedMs } = await copyFrom({ node, sinceMs, toMs }, doubtful, request, modules, signal)
    if (error !== undefined) {
      failed.add(node.nodeId)
      restFromMs.set(node.nodeId, reachedMs)
      if (!signal.aborted) events.failed(node.nodeId, error)
    } else {
      complete.push(node.nodeId)
      toMs = Math.min(toMs, reachedMs)
    }
  }
  const hasMore = toMs < request.toMs
  if (hasMore) for (const nodeId of complete) restFromMs.set(nodeId, toMs)
  const { believed, refused } = doubtful.judge(witnesses, failed)
  const last = new Chunk(modules)
  for (const { checked } of believed) await last.add(checked)
  await last.flush()
  for (const { from } of believed) events.copied(from, 1)
  if (refused > 0) events.refused(refused)
  return { failed, restFromMs, hasMore, isUndecided: refused > 0 && failed.size > 0 }
}

interface Stretch {
  readonly node: StorageNodeInfo
  readonly sinceMs: number
  readonly toMs: number
}

/** Copies from one storage node. How far it came, and why not as far as it should have. */
async function copyFrom(
  { node, sinceMs, toMs }: Stretch,
  doubtful: DoubtfulBatches,
  { streamPartId, chain, maxBytes, maxMs }: CopyRequest,
  modules: CopyModules,
  signal: AbortSignal,
): Promise<{ readonly error?: unknown; readonly reachedMs: number }> {
  const { source, events, clock, limits } = modules
  const range = {
    ...{ streamPartId, publisherId: chain?.publisherId, messageChainId: chain?.messageChainId },
    from: { timestamp: sinceMs, sequenceNumber: 0 },
    to: { timestamp: toMs, sequenceNumber: 0xffffffff },
  }
  const chunk = new Chunk(modules)
  const turn = new AbortController()
  const cancelTurn = clock.schedule(maxMs, () => turn.abort())
  let bytesRead = 0
  let refused = 0
  let reachedMs = sinceMs
  try {
    const read = source.read(node, range, AbortSignal.any([signal, turn.signal]))
    const place = { streamPartId, from: node.nodeId }
    const checks = {
      begin: async (bytes: Uint8Array) => ({ bytes, checked: await modules.check(bytes, place) }),
      weigh: ({ length }: Uint8Array) => Math.max(length, limits.maxCheckedAheadBytes / maxCheckedAhead),
      maxWeight: limits.maxCheckedAheadBytes,
    }
    for await (const { bytes, checked } of ahead(read, checks)) {
      const beginMs = decodeBatch(bytes).messages[0]?.timestamp ?? 0
      reachedMs = Math.max(reachedMs, Math.min(beginMs, toMs))
      if (bytesRead >= maxBytes && beginMs > sinceMs) return { reachedMs }
      // Never before it is past where it began: the next turn would get no further.
      const isRefused = refused >= limits.maxRefusedPerTurn && beginMs > sinceMs
      if (turn.signal.aborted || isRefused) {
        return { reachedMs, error: storageError('REPAIR_GIVEN_UP', node.nodeId) }
      }
      bytesRead += bytes.length
      if (checked?.isDoubtful === false) await chunk.add(checked)
      else if (checked === undefined || !doubtful.add(checked, node.nodeId)) {
        refused++
        events.refused(1)
      }
    }
    // A source may end without an error when it is called off.
    signal.throwIfAborted()
    turn.signal.throwIfAborted()
    return { reachedMs: toMs }
  } catch (error) {
    if (!turn.signal.aborted) return { error, reachedMs: sinceMs }
    return { error: storageError('REPAIR_GIVEN_UP', node.nodeId, { cause: error }), reachedMs }
  } finally {
    cancelTurn()
    // What was asked for last is not waited for.
    turn.abort()
    await chunk.flush()
    if (chunk.copied > 0) events.copied(node.nodeId, chunk.copied)
  }
}

/** Batches on their way into the store, some at a time. */
class Chunk {
  readonly #modules: CopyModules
  #batches: MessageBatch[] = []
  #delegations = new Map<DelegationRef, Uint8Array>()
  #bytes = 0
  copied = 0

  constructor(modules: CopyModules) {
    this.#modules = modules
  }

  async add({ batch, delegation }: CheckedBatch): Promise<void> {
    const { maxAppendBatches, maxAppendBytes } = this.#modules.limits
    const { delegationRef: ref } = batch
    this.#batches.push(batch)
    if (ref !== undefined && delegation !== undefined) this.#delegations.set(ref, delegation)
    this.#bytes += countedBytes(batch, delegation)
    if (this.#batches.length < maxAppendBatches && this.#bytes < maxAppendBytes / 4) return
    await this.flush()
    await nextTurn(this.#modules.clock)
  }

  async flush(): Promise<void> {
    if (this.#batches.length === 0) return
    await this.#modules.store.append(this.#batches, this.#delegations)
    this.copied += this.#batches.length
    this.#batches = []
    this.#delegations = new Map()
    this.#bytes = 0
  }
}

/** Batches whose publisher, or its delegate, may no longer publish, and the nodes that have them. */
class DoubtfulBatches {
  readonly #maxBytes: number
  readonly #batches = new Map<string, { readonly checked: CheckedBatch; readonly holders: Set<NodeId> }>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** False when there are too many. */
  add(checked: CheckedBatch, holder: NodeId): boolean {
    const { batch, delegation } = checked
    const key = Buffer.from(batch.signature).toString('latin1')
    const known = this.#batches.get(key)
    known?.holders.add(holder)
    if (known !== undefined) return true
    this.#bytes += countedBytes(batch, delegation)
    if (this.#bytes > this.#maxBytes) return false
    this.#batches.set(key, { checked, holders: new Set([holder]) })
    return true
  }

  /** The batches that enough nodes have, of the nodes that answered completely. */
  judge(
    witnesses: number,
    failed: ReadonlySet<NodeId>,
  ): { readonly believed: readonly { checked: CheckedBatch; from: NodeId }[]; readonly refused: number } {
    const believed = [...this.#batches.values()].flatMap(({ checked, holders }) => {
      const good = [...holders].filter((holder) => !failed.has(holder))
      const [from] = good
      return from === undefined || good.length < witnesses ? [] : [{ checked, from }]
    })
    return { believed, refused: this.#batches.size - believed.length }
  }
}
