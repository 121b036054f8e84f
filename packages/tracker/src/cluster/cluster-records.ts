import type { Clock, Crypto, Identity, NodeId, Random, StreamPartId } from '@runnel/protocol'
import type { TrackerCore } from '../core/tracker-core.ts'
import type { TrackerLogger } from '../logger.ts'
import type { ClusterTrackerView } from './cluster-view.ts'
import type { ClusterCounterName } from './core/cluster-counters.ts'
import type { FaultModules } from './core/isolated.ts'
import type { ClusterRecord } from './core/record.ts'
import { RecordTable } from './core/record-table.ts'
import { Replicator } from './core/replicator.ts'
import type { ClusterNetwork } from './libp2p/cluster-network.ts'
import type { ClusterLimits } from './limits.ts'
import { overlaySnapshot } from './overlay-snapshot.ts'
import { RecordWriter } from './record-writer.ts'
import { ReplicaReader } from './replica-reader.ts'
import type { SeldomLog } from './seldom-log.ts'

export interface ClusterRecordsModules extends FaultModules {
  readonly identity: Identity
  readonly crypto: Crypto
  readonly clock: Clock
  readonly random: Random
  readonly logger: TrackerLogger
  readonly seldom: SeldomLog
  readonly core: TrackerCore
  isRegistered(id: NodeId): boolean
  /** Undefined until there is a network: then nothing is written. */
  network(): ClusterNetwork | undefined
  /** The URL that nodes dial. */
  url(): string
  count(name: ClusterCounterName, by?: number): void
}

type Load = NonNullable<ClusterTrackerView['load']>

/** What this tracker writes into the cluster's hash table, and what it reads from it. */
export class ClusterRecords {
  readonly replicas: ReplicaReader
  readonly #limits: ClusterLimits
  readonly #modules: ClusterRecordsModules
  readonly #table: RecordTable
  readonly #writer: RecordWriter
  readonly #replicator: Replicator
  #aliveAt = -Infinity

  constructor(limits: ClusterLimits, modules: ClusterRecordsModules) {
    const { identity, crypto, clock, core, count, fault, network } = modules
    this.#limits = limits
    this.#modules = modules
    this.#table = new RecordTable(limits, {
      ...{ crypto, count },
      isRegistered: (id) => modules.isRegistered(id),
      onAccepted: (record) => this.#accepted(record),
    })
    this.#writer = new RecordWriter(limits, {
      ...{ identity, crypto, clock, count, fault },
      put: (key, value, signal) => network()?.put(key, value, signal) ?? Promise.resolve(0),
      keep: (key, value) => void this.#table.offer(key, value, clock.now()),
    })
    this.replicas = new ReplicaReader(limits, {
      table: this.#table,
      fetch: (key, signal) => network()?.get(key, signal) ?? Promise.resolve(undefined),
      now: () => clock.now(),
    })
    this.#replicator = new Replicator(
      limits,
      {
        ...{ crypto, count, fault, secret: Math.floor(modules.random.next() * 2 ** 32) },
        snapshot: (id) => overlaySnapshot(core, id),
        write: (body) => this.#writer.write(body),
      },
      clock.monotonicMs(),
    )
  }

  /** When `tick` is due; Infinity when nothing is waited for. */
  get dueMs(): number {
    if (this.#modules.network() === undefined) return Infinity
    return Math.min(this.#aliveAt, this.#replicator.dueMs)
  }

  /** Takes a record of another tracker. Throws the reason when it is refused. */
  offer(key: Uint8Array, value: Uint8Array): void {
    const { clock, seldom } = this.#modules
    const refusal = this.#tryOffer(key, value, clock.now())
    if (refusal === undefined) return
    const record = new TextDecoder().decode(key.subarray(0, 400))
    // While trackers are upgraded one after the other this is as it should be.
    if (refusal !== 'recordsUnknown') seldom.warn(refusal, { record }, 'a record was refused')
    throw new Error(refusal)
  }

  #tryOffer(key: Uint8Array, value: Uint8Array, wallMs: number): string | undefined {
    try {
      return this.#table.offer(key, value, wallMs)
    } catch (error) {
      this.#modules.fault({}, error)
      return 'a fault'
    }
  }

  /** Something about a stream part that is led here changed. */
  touched(id: StreamPartId, nowMs: number): void {
    if (this.#modules.network() !== undefined) this.#replicator.touched(id, nowMs)
  }

  /** Another tracker linked, which may be new, or have lost all its state. */
  linked(): void {
    this.#replicator.writeAllAgain()
    this.#aliveAt = -Infinity
  }

  /** Drops expired records, and all records of trackers that are no longer registered. */
  purge(): void {
    this.#table.purge(this.#modules.clock.now())
  }

  tick(nowMs: number): void {
    if (this.#modules.network() === undefined) return
    this.#replicator.tick(nowMs)
    if (this.#aliveAt > nowMs) return
    this.#aliveAt = nowMs + this.#limits.aliveIntervalMs
    this.purge()
    this.#writer.write({ kind: 'alive', url: this.#modules.url(), ...this.load() })
  }

  /** What this tracker leads, and has replicas of: costs nothing with the number of nodes and records. */
  get figures(): Pick<Load, 'leads' | 'replicas'> {
    const { core, identity } = this.#modules
    return { leads: core.streamParts.size, replicas: this.#table.leadCount(identity.nodeId) }
  }

  /** The load of this tracker; costs time with the number of its nodes. */
  load(): Load {
    let nodes = 0
    for (const { connected } of this.#modules.core.nodes.values()) if (connected) nodes++
    return { nodes, ...this.figures }
  }

  /** What another tracker last reported of itself; null when that is too long ago. */
  loadOf(tracker: NodeId): Load | null {
    const alive = this.#table.alive(tracker, this.#modules.clock.now())
    return alive === undefined ? null : { nodes: alive.nodes, leads: alive.leads, replicas: alive.replicas }
  }

  /** This tracker leads nothing any more, and what it wrote is out of date. */
  beginAnew(): void {
    this.#writer.clear()
    this.#replicator.clear()
    this.#table.forget(this.#modules.identity.nodeId)
  }

  stop(): void {
    this.#writer.clear()
  }

  #accepted({ writer, body }: ClusterRecord): void {
    const { core, identity, logger, seldom, count } = this.#modules
    if (body.kind !== 'lead' || writer === identity.nodeId) return
    const { streamPartId, nodes } = body
    logger.debug({ tracker: writer, streamPartId, nodes }, 'another tracker has replicated an overlay')
    if (body.chunks === 0 || !core.streamParts.has(streamPartId)) return
    count('leadsDisputed')
    const text = 'another tracker claims to lead a stream part that this one leads'
    seldom.warn(`lead ${writer}`, { tracker: writer, streamPartId }, text)
  }
}
