import type { RunnelClient } from '@runnel/client'
import type { Cancel, Clock, Crypto, MessageBatch, StreamPartId } from '@runnel/protocol'
import type { FastifyInstance } from 'fastify'
import type { BrokerConfig } from '../../config/schema.ts'
import type { Logger } from '../../logger.ts'
import { Access } from './access.ts'
import { addStorageRoutes } from './http/storage-routes.ts'
import { Ingest } from './ingest.ts'
import { KeptParts } from './kept-parts.ts'
import type { OpenedStore } from './opened-store.ts'
import { checkBatch } from './repair/check-batch.ts'
import { RepairMarks } from './repair/repair-marks.ts'
import { Repair } from './repair/repair.ts'
import { oldestKeptMs, pruneAll, retentionOf, streamOf, type Retention } from './retention.ts'
import { createLinkRoom } from './server/link-room.ts'
import { ResendServer } from './server/resend-server.ts'
import type { StorageLimits } from './storage-limits.ts'
import { StorageLog, type StoreWork } from './storage-log.ts'
import type { StorageStatus } from './storage-status.ts'
import { every, untilDone } from './waiting.ts'

export type StorageNodeOptions = BrokerConfig['storage'] & { readonly limits: StorageLimits }

export interface StorageNodeModules {
  readonly client: RunnelClient
  readonly logger: Logger
  readonly crypto: Crypto
  readonly clock: Clock
  readonly store: OpenedStore
}

/** The parts of a storage node, put together: what comes in, what is asked for, and what is missing. */
export class StorageNode {
  readonly #options: StorageNodeOptions
  readonly #modules: StorageNodeModules
  readonly #log: StorageLog
  readonly #ingest: Ingest
  readonly #access: Access
  readonly #server: ResendServer
  readonly #marks: RepairMarks
  readonly #repair: Repair
  readonly #kept: KeptParts
  readonly #stopping = new AbortController()
  #stops: Cancel[] = []
  #beginning: Promise<void> | undefined
  #following: Promise<void> | undefined
  #statuses: ReturnType<RunnelClient['status']> | undefined
  #prunedBatches = 0

  constructor(options: StorageNodeOptions, modules: StorageNodeModules) {
    const { client, store, clock, logger } = modules
    this.#options = options
    this.#modules = modules
    this.#log = new StorageLog({ location: store.location }, { logger, clock })
    this.#marks = new RepairMarks({ nodeId: client.nodeId, runMs: clock.now() }, { store })
    this.#ingest = this.#createIngest()
    this.#access = new Access(modules)
    this.#server = this.#createServer()
    this.#repair = this.#createRepair()
    this.#kept = this.#createKeptParts()
  }

  /** Resolves when it works, or its store has failed for the first time; that is tried again until `stop`. */
  async start(): Promise<void> {
    this.#listen()
    this.#following = this.#followRegistry()
    this.#beginning = this.#begin()
    await Promise.race([this.#beginning, this.#log.firstStoreFailure])
  }

  status(): StorageStatus {
    const { store } = this.#modules
    return {
      location: store.location,
      isHealthy: store.isOpen && !this.#log.isStoreFailing,
      streamParts: this.#kept.ids.length,
      ignoredStreamParts: this.#kept.ignored,
      ingest: this.#ingest.status(),
      requests: this.#server.status(),
      repair: this.#repair.status(),
      prunedBatches: this.#prunedBatches,
    }
  }

  addRoutes(http: FastifyInstance): void {
    const { maxHttpReads: maxReads, limits } = this.#options
    const { store, clock } = this.#modules
    addStorageRoutes(
      http,
      { maxReads, limits },
      {
        ...{ store, clock, ingest: this.#ingest, access: this.#access },
        isKept: (streamPartId) => this.#kept.has(streamPartId),
        oldestMs: (streamPartId) => this.#oldestMs(streamPartId),
        report: () => this.#report(),
        onError: (error) => this.#log.requestFailed(error),
      },
    )
  }

  /** Ends what is being served, stores what has arrived, and closes the store. Idempotent. */
  async stop(): Promise<void> {
    const { store } = this.#modules
    this.#stopping.abort()
    await this.#beginning?.catch(() => {})
    for (const end of this.#stops.splice(0)) end()
    await this.#statuses?.return?.()
    await this.#following
    await this.#server.stop()
    await this.#repair.stop()
    await this.#kept.stop()
    await this.#ingest.stop()
    if (store.isOpen) await this.#inBackground('marking', this.#noteAlive())
    await store.close()
  }

  async #begin(): Promise<void> {
    const { store, clock } = this.#modules
    const { limits } = this.#options
    const onFailure = (error: unknown) => this.#log.storeFailed('opening', error)
    const retrying = { clock, limits, signal: this.#stopping.signal, onFailure }
    await untilDone(() => store.open(), retrying)
    // What is stored can be read from now on, even if nothing can be written.
    await untilDone(() => this.#marks.begin(), retrying)
    this.#log.storeWorked('opening')
    this.#stops.push(
      every(clock, limits.markIntervalMs, () => this.#inBackground('marking', this.#noteAlive())),
      every(clock, limits.pruneIntervalMs, () => this.#inBackground('pruning', this.#prune())),
    )
    await this.#kept.refresh()
    this.#repair.start()
  }

  #listen(): void {
    const { network } = this.#modules.client
    const ifKept = (streamPartId: StreamPartId, work: () => Promise<void>) => {
      if (this.#kept.has(streamPartId)) void this.#inBackground('marking', work())
    }
    this.#stops.push(
      network.on('batch', (streamPartId, batch) => {
        if (this.#kept.has(streamPartId)) this.#store(streamPartId, batch)
      }),
      network.on('direct', (peerId, packet) => this.#server.handle(peerId, packet)),
      network.on('linkClosed', (peerId) => this.#server.linkClosed(peerId)),
      network.on('gap', ({ streamPartId, after }) =>
        ifKept(streamPartId, () => this.#repair.missed(streamPartId, after.timestamp)),
      ),
      network.on('neighbours', (streamPartId, { length }) =>
        ifKept(streamPartId, () => this.#repair.neighboursChanged(streamPartId, length)),
      ),
    )
  }

  /** What cannot be taken is missing in this stream part, and in no other. */
  #store(streamPartId: StreamPartId, batch: MessageBatch): void {
    try {
      this.#ingest.push(batch)
    } catch (error) {
      this.#log.fault(streamPartId, error)
      const fromMs = batch.messages[0]?.timestamp ?? 0
      void this.#inBackground('marking', this.#repair.missed(streamPartId, fromMs))
    }
  }

  /** Reads the assignments again whenever something about them may have changed. */
  async #followRegistry(): Promise<void> {
    this.#statuses = this.#modules.client.status()
    for await (const status of this.#statuses) {
      const kind = status.type === 'registry' ? status.change.kind : status.type
      if (!['storage', 'stream', 'unknown', 'statuses-missed'].includes(kind)) continue
      if (this.#modules.store.isOpen) await this.#kept.refresh()
    }
  }

  #createIngest(): Ingest {
    const { maxQueuedBytes, maxQueuedBatches, limits } = this.#options
    const { store, clock } = this.#modules
    const events = {
      dropped: (streamPartId: StreamPartId, fromMs: number) =>
        void this.#inBackground('marking', this.#repair.missed(streamPartId, fromMs)),
      slow: () => this.#log.slow(this.#ingest.status()),
      failed: (error: unknown) => this.#log.storeFailed('appending', error),
      fault: (streamPartId: StreamPartId, error: unknown) => this.#log.fault(streamPartId, error),
      recovered: () => this.#log.storeWorked('appending'),
    }
    return new Ingest({ maxQueuedBytes, maxQueuedBatches, limits }, { store, clock, events })
  }

  #createServer(): ResendServer {
    const { maxResends, limits } = this.#options
    const { store, clock, client } = this.#modules
    const { network } = client
    const marks = { lowMarkBytes: limits.linkLowMarkBytes, pollMs: limits.linkPollMs }
    return new ResendServer(
      { maxResends, limits },
      {
        ...{ network, store, clock, ingest: this.#ingest, access: this.#access },
        room: createLinkRoom(marks, { network, clock }),
        isKept: (streamPartId) => this.#kept.has(streamPartId),
        oldestMs: (streamPartId) => this.#oldestMs(streamPartId),
        onError: (error) => this.#log.requestFailed(error),
      },
    )
  }

  #createRepair(): Repair {
    const { repairIntervalMs: intervalMs, limits } = this.#options
    const { client, clock, store, crypto, logger } = this.#modules
    return new Repair(
      { intervalMs, limits },
      {
        ...{ client, store, clock, marks: this.#marks },
        source: { read: (node, range, signal) => client.readStorageNode(node.nodeId, range, signal) },
        check: (bytes, streamPartId) => checkBatch(bytes, streamPartId, { client, crypto }),
        oldestMs: (streamPartId) => this.#oldestMs(streamPartId),
        events: {
          repaired: (streamPart, from, batches) => logger.info({ streamPart, from, batches }, 'repaired'),
          failed: (streamPartId, from, error) => this.#log.repairFailed(streamPartId, from, error),
        },
      },
    )
  }

  #createKeptParts(): KeptParts {
    const { maxStreamParts, limits } = this.#options
    const { client, clock, logger } = this.#modules
    const events = {
      joined: (streamPart: StreamPartId) => {
        logger.info({ streamPart }, 'storing')
        void this.#inBackground('marking', this.#repair.joined(streamPart))
      },
      left: (streamPart: StreamPartId) => {
        logger.info({ streamPart }, 'no longer storing')
        void this.#inBackground('marking', this.#repair.left(streamPart))
      },
      tooMany: (ignored: number) => this.#log.tooManyParts(ignored, maxStreamParts),
      failed: (error: unknown) => this.#log.registryFailed(error),
    }
    return new KeptParts({ maxStreamParts, limits }, { client, network: client.network, clock, events })
  }

  async #report() {
    const { store, client } = this.#modules
    const usage = store.isOpen ? await store.usage() : []
    return { nodeId: client.nodeId, ...this.status(), kept: this.#kept.ids, usage }
  }

  /** While the registry cannot be read, the operator's limits alone count. */
  async #retention(streamPartId: StreamPartId): Promise<Retention> {
    const streamId = streamOf(streamPartId)
    const stream = await this.#modules.client.getStream(streamId).catch(() => undefined)
    return retentionOf(streamId, this.#options.retention, stream)
  }

  async #oldestMs(streamPartId: StreamPartId): Promise<number> {
    return oldestKeptMs(await this.#retention(streamPartId), this.#modules.clock.now())
  }

  async #noteAlive(): Promise<void> {
    await this.#marks.alive(this.#modules.clock.now() - this.#ingest.status().lagMs)
    this.#log.storeWorked('marking')
  }

  async #prune(): Promise<void> {
    const { store, clock } = this.#modules
    const retentionOf = (streamPartId: StreamPartId) => this.#retention(streamPartId)
    const modules = { store, retentionOf, nowMs: () => clock.now() }
    this.#prunedBatches += (await pruneAll(modules, this.#stopping.signal)).batches
    this.#log.storeWorked('pruning')
  }

  /** What fails is the store, and is said so; the work is done again with the next occasion. Never rejects. */
  #inBackground(work: StoreWork, done: Promise<void>): Promise<void> {
    return done.catch((error: unknown) => this.#log.storeFailed(work, error))
  }
}
