import { TokenBucket, type Crypto, type NodeId, type StreamPartId } from '@runnel/protocol'
import { DelayQueue } from '../../core/timing/delay-queue.ts'
import type { ClusterLimits } from '../limits.ts'
import type { ClusterCounterName } from './cluster-counters.ts'
import { isolated, type FaultModules } from './isolated.ts'
import { encodeBody, type RecordBody, type ReplicatedNode, type TopologyBody } from './record.ts'

export type ReplicatorLimits = Pick<
  ClusterLimits,
  | 'gatherMs'
  | 'replicaIntervalMs'
  | 'replicaLifetimeMs'
  | 'recordsPerSecond'
  | 'recordBurst'
  | 'nodesPerChunk'
  | 'maxChunks'
  | 'maxRecordBytes'
>

export interface ReplicatorModules extends FaultModules {
  readonly crypto: Crypto
  /** Secret 32-bit number. It decides which chunk a node is in, so that nobody can choose ids for one chunk. */
  readonly secret: number
  /** A stream part's overlay now; undefined when this tracker does not lead it (any more). */
  snapshot(id: StreamPartId): readonly ReplicatedNode[] | undefined
  write(body: RecordBody): void
  count(name: ClusterCounterName): void
}

/** How often waiting records are looked at again, in milliseconds. */
const retryMs = 100
/** Upper bound on the size of a record without its nodes. */
const overheadBytes = 512

/**
 * Writes the overlays that a tracker leads into the cluster: soon after a change, at a limited rate, and only the chunks that
 * differ from what was written.
 */
export class Replicator {
  readonly #limits: ReplicatorLimits
  readonly #modules: ReplicatorModules
  /** Changed a moment ago. */
  readonly #gathering: DelayQueue<StreamPartId>
  /** Written a moment ago… */
  readonly #cooling: DelayQueue<StreamPartId>
  /** … and changed since. */
  readonly #changed = new Set<StreamPartId>()
  /** All of it was written at once, long ago. */
  readonly #ageing: DelayQueue<StreamPartId>
  readonly #ready = new Set<StreamPartId>()
  /** What was written of each stream part, by chunk. */
  readonly #written = new Map<StreamPartId, readonly string[]>()
  readonly #bucket: TokenBucket
  #blockedUntil = -Infinity

  constructor(limits: ReplicatorLimits, modules: ReplicatorModules, nowMs: number) {
    this.#limits = limits
    this.#modules = modules
    this.#gathering = new DelayQueue(limits.gatherMs)
    this.#cooling = new DelayQueue(limits.replicaIntervalMs)
    this.#ageing = new DelayQueue(limits.replicaLifetimeMs / 2)
    this.#bucket = new TokenBucket({ perSecond: limits.recordsPerSecond, burst: limits.recordBurst }, nowMs)
  }

  /** When `tick` is due; Infinity when nothing is waited for. */
  get dueMs(): number {
    const times = [this.#gathering, this.#cooling, this.#ageing].map(({ nextAt = Infinity }) => nextAt)
    if (this.#ready.size > 0) times.push(this.#blockedUntil)
    return Math.min(...times)
  }

  /** Something about the stream part changed. */
  touched(id: StreamPartId, nowMs: number): void {
    if (this.#ready.has(id) || this.#gathering.has(id)) return
    if (this.#cooling.has(id)) this.#changed.add(id)
    else this.#gathering.add(id, nowMs)
  }

  /** Others may have lost what was written: all of it is due again. */
  writeAllAgain(): void {
    for (const id of this.#written.keys()) this.#due(id)
  }

  /** Drops what was written and what is due: this tracker leads nothing any more, and others know what it led. */
  clear(): void {
    for (const queue of [this.#gathering, this.#cooling, this.#ageing])
      while (queue.takeOldest() !== undefined);
    for (const known of [this.#changed, this.#ready, this.#written]) known.clear()
  }

  tick(nowMs: number): void {
    for (const id of take(this.#gathering, nowMs)) this.#ready.add(id)
    for (const id of take(this.#cooling, nowMs)) if (this.#changed.delete(id)) this.#ready.add(id)
    for (const id of take(this.#ageing, nowMs)) this.#due(id)
    for (const id of this.#ready) {
      // If writing one throws, it is written when it changes again.
      let isWritten = true
      isolated({ streamPartId: id }, this.#modules, () => (isWritten = this.#write(id, nowMs)))
      if (!isWritten) {
        this.#blockedUntil = nowMs + retryMs
        this.#modules.count('writesDelayed')
        return
      }
      this.#ready.delete(id)
    }
  }

  #due(id: StreamPartId): void {
    this.#written.set(id, [])
    this.#ready.add(id)
  }

  /** False when it has to wait. */
  #write(id: StreamPartId, nowMs: number): boolean {
    const nodes = this.#modules.snapshot(id) ?? []
    const before = this.#written.get(id)
    if (nodes.length === 0 && before === undefined) return true
    const shares = this.#divide(id, nodes)
    const hashes = shares.map((share) => this.#hash(share))
    const changed = shares.filter((_, index) => hashes[index] !== before?.[index])
    const lead = { kind: 'lead', streamPartId: id, chunks: shares.length, nodes: nodes.length } as const
    if (nodes.length > 0 && changed.length === 0 && hashes.length === before?.length) return true
    if (!this.#bucket.take(nowMs, Math.min(changed.length + 1, this.#limits.recordBurst))) return false
    for (const share of changed) this.#modules.write(share)
    this.#modules.write(lead)
    this.#cooling.add(id, nowMs)
    if (nodes.length === 0) {
      this.#written.delete(id)
      this.#ageing.delete(id)
    } else {
      this.#written.set(id, hashes)
      // Shares that stay as they are expire when they would have.
      if (changed.length === shares.length) this.#ageing.add(id, nowMs)
    }
    return true
  }

  /**
   * Assigns nodes to chunks by their ids, so that a change touches few chunks. There are as many chunks as the number of nodes
   * and their bytes require, and more if one would still be too large.
   */
  #divide(id: StreamPartId, nodes: readonly ReplicatedNode[]): TopologyBody[] {
    if (nodes.length === 0) return []
    const { nodesPerChunk, maxChunks, maxRecordBytes } = this.#limits
    const maxBytes = maxRecordBytes - overheadBytes
    const bytes = nodes.reduce((sum, node) => sum + nodeBytes(node), 0)
    let chunks = 1
    while (chunks < maxChunks && (chunks * nodesPerChunk < nodes.length || chunks * maxBytes < bytes))
      chunks *= 2
    let divided = this.#divideInto(chunks, nodes, maxBytes)
    while (divided.left > 0 && chunks < maxChunks)
      divided = this.#divideInto((chunks = Math.min(2 * chunks, maxChunks)), nodes, maxBytes)
    if (divided.left > 0) this.#modules.count('replicasTruncated')
    return divided.shares.map((share, chunk) => ({
      ...{ kind: 'topology', streamPartId: id, chunk, chunks, nodes: share },
    }))
  }

  /** The number of nodes `left` out for lack of space. */
  #divideInto(chunks: number, nodes: readonly ReplicatedNode[], maxBytes: number) {
    const shares = Array.from({ length: chunks }, (): ReplicatedNode[] => [])
    const room = shares.map(() => maxBytes)
    let left = 0
    for (const node of nodes) {
      const chunk = this.#mixed(node.nodeId) % chunks
      const bytesLeft = (room[chunk] ?? 0) - nodeBytes(node)
      if (bytesLeft < 0) {
        left++
        continue
      }
      room[chunk] = bytesLeft
      shares[chunk]?.push(node)
    }
    return { shares, left }
  }

  /** A 32-bit hash of an id and the secret; the last step is that of MurmurHash3. */
  #mixed(id: NodeId): number {
    let mix = this.#modules.secret
    for (let at = 2; at < 42; at += 8) {
      mix = Math.imul(mix ^ Number.parseInt(id.slice(at, at + 8), 16), 0x85ebca6b)
      mix = (mix << 13) | (mix >>> 19)
    }
    mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35)
    return (mix ^ (mix >>> 16)) >>> 0
  }

  #hash(body: TopologyBody): string {
    return String.fromCharCode(...this.#modules.crypto.keccak256(encodeBody(body)))
  }
}

/** Upper bound on the bytes a node takes in a record. */
function nodeBytes({ contact, neighbours }: ReplicatedNode): number {
  const texts = [...contact.dials, ...contact.addresses.flatMap(({ kind, text }) => [kind, text])]
  return texts.reduce((sum, text) => sum + 1 + text.length, 24 + 20 * neighbours.length)
}

function* take<Key>(queue: DelayQueue<Key>, nowMs: number): Generator<Key> {
  for (let key = queue.takeDue(nowMs); key !== undefined; key = queue.takeDue(nowMs)) yield key
}
