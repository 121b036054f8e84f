import type { RunnelClient } from '@runnel/client'
import {
  isKeyPart,
  type Cancel,
  type Clock,
  type Crypto,
  type MessageBatch,
  type NodeId,
  type StreamPartId,
} from '@runnel/protocol'
import type { FastifyInstance } from 'fastify'
import { Access } from './access.ts'
import { CardKeeper } from './cards/card-keeper.ts'
import { CardServer } from './cards/card-server.ts'
import type { StorageConfig } from './config.ts'
import { DiskQuota } from './disk-quota.ts'
import { storageError } from './errors.ts'
import { addStorageRoutes } from './http/storage-routes.ts'
import { Ingest } from './ingest.ts'
import { KeptParts } from './kept-parts.ts'
import { KnownDelegations } from './known-delegations.ts'
import type { OpenedStore } from './opened-store.ts'
import type { Logger } from './ports.ts'
import { checkBatch } from './repair/check-batch.ts'
import { RepairMarks } from './repair/repair-marks.ts'
import { Repair } from './repair/repair.ts'
import { RetentionDate } from './retention-date.ts'
import { oldestKeptMs, pruneAll, retentionOf, retentionOfKeys, type StreamRetention } from './retention.ts'
import { Answers } from './server/answers.ts'
import { createLinkRoom, type LinkRoom } from './server/link-room.ts'
import { LinkSignals } from './server/link-signals.ts'
import { ResendServer } from './server/resend-server.ts'
import { streamOf } from './share-out.ts'
import type { StorageLimits } from './storage-limits.ts'
import { StorageLog, type StoreWork } from './storage-log.ts'
import type { StorageStatus } from './storage-status.ts'
import { usageReport } from './usage-report.ts'
import { every, untilDone } from './waiting.ts'

export type StorageNodeOptions = StorageConfig & { readonly limits: StorageLimits }

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
  readonly #quota: DiskQuota
  readonly #delegations: KnownDelegations
  readonly #ingest: Ingest
  readonly #access: Access
  readonly #room: LinkRoom
  readonly #links = new LinkSignals()
  readonly #answers: Answers
  readonly #server: ResendServer
  readonly #cards: CardKeeper
  readonly #cardServer: CardServer
  readonly #marks: RepairMarks
  readonly #date: RetentionDate
  readonly #repair: Repair
  readonly #kept: KeptParts
  /** By the monotonic clock. */
  readonly #createdMs: number
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
    this.#createdMs = clock.monotonicMs()
    this.#marks = new RepairMarks({ nodeId: client.nodeId, runMs: clock.now() }, { store })
    this.#date = new RetentionDate(
      { nodeId: client.nodeId, limits: options.limits },
      { store, clock, onAhead: (leadMs) => this.#log.clockAhead(leadMs) },
    )
    this.#quota = new DiskQuota(options, { store })
    this.#delegations = new KnownDelegations(client.network.delegations)
    this.#ingest = this.#createIngest()
    const { network } = client
    const { limits } = options
    const marks = { lowMarkBytes: limits.linkLowMarkBytes, pollMs: limits.linkPollMs }
    this.#room = createLinkRoom(marks, { network, clock })
    this.#answers = new Answers(limits, { network, room: this.#room })
    this.#cards = this.#createCards()
    this.#cardServer = this.#createCardServer()
    this.#access = this.#createAccess()
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
      unwelcomeStreams: this.#kept.unwelcome,
      contradictions: store.contradictions,
      quota: this.#quota.status(),
      ingest: this.#ingest.status(),
      requests: this.#server.status(),
      repair: this.#repair.status(),
      cards: { ...this.#cards.status(), refusedRequests: this.#cardServer.refused },
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
        usage: () => this.#usage(),
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
    await this.#cardServer.stop()
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
    await untilDone(() => this.#date.begin(), retrying)
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
        if (!this.#kept.has(streamPartId)) return
        this.#store(streamPartId, batch)
        if (isKeyPart(streamPartId)) this.#repair.heard(streamPartId)
      }),
      network.on('direct', (peerId, packet) => {
        this.#server.handle(peerId, packet)
        this.#cardServer.handle(peerId, packet)
      }),
      network.on('linkClosed', (peerId) => {
        this.#links.closed(peerId)
        this.#cardServer.linkClosed(peerId)
      }),
      network.on('gap', (gap) => {
        if (this.#kept.has(gap.streamPartId)) this.#repair.gap(gap)
      }),
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
    const { clock } = this.#modules
    const events = {
      dropped: (streamPartId: StreamPartId, fromMs: number) =>
        void this.#inBackground('marking', this.#repair.dropped(streamPartId, fromMs)),
      slow: () => this.#log.slow(this.#ingest.status()),
      failed: (error: unknown) => this.#log.storeFailed('appending', error),
      fault: (streamPartId: StreamPartId, error: unknown) => this.#log.fault(streamPartId, error),
      recovered: () => this.#log.storeWorked('appending'),
    }
    return new Ingest(
      { maxQueuedBytes, maxQueuedBatches, limits },
      { store: this.#quota, delegations: this.#delegations, clock, events },
    )
  }

  #createAccess(): Access {
    const onMember = (userId: NodeId, streamPartId: StreamPartId) => {
      if (this.#kept.has(streamPartId)) void this.#inBackground('marking', this.#cards.memberSeen(userId))
    }
    return new Access({ ...this.#modules, onMember })
  }

  #createCards(): CardKeeper {
    const { client, store, clock } = this.#modules
    return new CardKeeper(this.#options.limits, { store, clock, check: (card) => client.checkCard(card) })
  }

  #createCardServer(): CardServer {
    const { client, clock } = this.#modules
    const onError = (error: unknown) => this.#log.requestFailed(error)
    return new CardServer(this.#options.limits, {
      ...{ network: client.network, answers: this.#answers, links: this.#links },
      ...{ cards: this.#cards, clock, onError },
    })
  }

  #createServer(): ResendServer {
    const { maxResends, limits } = this.#options
    const { store, clock, client } = this.#modules
    return new ResendServer(
      { maxResends, limits },
      {
        ...{ network: client.network, store, clock, ingest: this.#ingest, access: this.#access },
        ...{ delegations: this.#delegations, room: this.#room, answers: this.#answers, links: this.#links },
        isKept: (streamPartId) => this.#kept.has(streamPartId),
        isRefused: (streamPartId) => this.#kept.isRefused(streamPartId),
        oldestMs: (streamPartId) => this.#oldestMs(streamPartId),
        notBeforeMs: async (streamPartId) => (await this.#retention(streamPartId)).notBeforeMs,
        onError: (error) => this.#log.requestFailed(error),
      },
    )
  }

  #createRepair(): Repair {
    const { repairIntervalMs: intervalMs, limits } = this.#options
    const { client, clock, crypto, logger } = this.#modules
    const { publisherPolicy: policy, delegationHistory: endings, network, verification } = client
    const { delegations } = network
    const checking = { policy, endings, delegations, known: this.#delegations, crypto, clock, verification }
    return new Repair(
      { intervalMs, limits },
      {
        ...{ client, store: this.#quota, clock, marks: this.#marks },
        source: { read: (node, range, signal) => client.readStorageNode(node.nodeId, range, signal) },
        check: (bytes, place) => checkBatch(bytes, place, checking),
        oldestMs: (streamPartId) => this.#oldestMs(streamPartId),
        events: {
          repaired: (streamPart, from, batches) => logger.info({ streamPart, from, batches }, 'repaired'),
          failed: (streamPartId, from, error) => this.#log.repairFailed(streamPartId, from, error),
        },
      },
    )
  }

  #createKeptParts(): KeptParts {
    const { maxStreamParts, owners, limits } = this.#options
    const { client, clock, logger } = this.#modules
    const events = {
      joined: (streamPart: StreamPartId) => {
        logger.info({ streamPart }, 'storing')
        void this.#inBackground('marking', this.#repair.joined(streamPart))
      },
      left: (streamPart: StreamPartId) => {
        logger.info({ streamPart }, 'no longer storing')
        void this.#inBackground('marking', this.#repair.left(streamPart, this.#storedUntilMs()))
      },
      tooMany: (ignored: number, of: readonly string[]) =>
        this.#log.tooManyParts(ignored, maxStreamParts, of),
      unwelcome: (streams: number) => this.#log.unwelcome(streams),
      failed: (error: unknown) => this.#log.registryFailed(error),
    }
    const memory = {
      load: () => this.#marks.keptParts(),
      save: (ids: readonly StreamPartId[]) =>
        void this.#inBackground('marking', this.#marks.setKeptParts(ids)),
    }
    return new KeptParts(
      { maxStreamParts, owners, limits },
      { client, network: client.network, clock, memory, events },
    )
  }

  async #report() {
    const { store, client } = this.#modules
    const usage = store.isOpen ? await store.usage() : []
    return { nodeId: client.nodeId, ...this.status(), kept: this.#kept.ids, usage }
  }

  async #usage() {
    const { store } = this.#modules
    const { maxStreamParts, owners } = this.#options
    if (!store.isOpen) throw storageError('STORE_FAILED', 'it is not open')
    const caps = { maxStreamParts, ...this.#quota.status() }
    return usageReport({ usage: await store.usage(), kept: this.#kept.ids, caps, lists: owners })
  }

  /** While the registry cannot be read, the operator's limits alone count. */
  async #retention(streamPartId: StreamPartId): Promise<StreamRetention> {
    const streamId = streamOf(streamPartId)
    const stream = await this.#modules.client.getStream(streamId).catch(() => undefined)
    if (isKeyPart(streamPartId)) return retentionOfKeys(stream)
    return retentionOf(streamId, this.#options.retention, stream)
  }

  /** What began before is due to be deleted, or had to make room. */
  async #oldestMs(streamPartId: StreamPartId): Promise<number> {
    const oldestMs = oldestKeptMs(await this.#retention(streamPartId), this.#date.nowMs())
    return Math.max(oldestMs, await this.#quota.goneBeforeMs(streamPartId))
  }

  /** What came before is stored, or marked as missing. */
  #storedUntilMs(): number {
    return this.#modules.clock.now() - this.#ingest.status().lagMs
  }

  async #noteAlive(): Promise<void> {
    const untilMs = this.#storedUntilMs()
    const lastedMs = this.#modules.clock.monotonicMs() - this.#ingest.status().lagMs - this.#createdMs
    await this.#repair.saveMarks()
    await this.#marks.alive(untilMs, Math.floor(lastedMs))
    this.#log.storeWorked('marking')
  }

  async #prune(): Promise<void> {
    const { store } = this.#modules
    await this.#date.look()
    const retentionOf = (streamPartId: StreamPartId) => this.#retention(streamPartId)
    // What is no longer asked to be kept ages as a whole.
    const maxValuesOf = (id: StreamPartId) => (this.#kept.isGivenUp(id) ? 0 : this.#options.limits.maxValues)
    const modules = {
      store: { usage: () => store.usage(), prune: this.#quota.prune },
      retentionOf,
      nowMs: () => this.#date.nowMs(),
      maxValuesOf,
    }
    this.#prunedBatches += (await pruneAll(modules, this.#stopping.signal)).batches
    this.#log.storeWorked('pruning')
  }

  /** What fails is the store, and is said so; the work is done again with the next occasion. Never rejects. */
  #inBackground(work: StoreWork, done: Promise<void>): Promise<void> {
    return done.catch((error: unknown) => this.#log.storeFailed(work, error))
  }
}
