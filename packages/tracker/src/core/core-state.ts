import {
  Shares,
  type NodeId,
  type OverlayStrategyName,
  type Random,
  type StreamPartId,
} from '@runnel/protocol'
import type { TrackerLimits } from '../limits.ts'
import { Counters } from './counters.ts'
import { Improver } from './improver.ts'
import { MissingStreams } from './missing-streams.ts'
import type { NodeRecord } from './node-record.ts'
import { OpenOffers } from './open-offers.ts'
import { Outbox } from './outbox.ts'
import { PartPlaces } from './part-places.ts'
import type { Replica } from './replica.ts'
import { RestingParts } from './resting-parts.ts'
import { Roles, type RegistryAnswers } from './roles.ts'
import { Schedule } from './schedule.ts'
import { Signalling } from './signalling.ts'
import { StorageDirectory } from './storage-directory.ts'
import type { StreamPart } from './stream-part.ts'
import { ExpiringPairs } from './timing/expiring-pairs.ts'
import type { TrackerFault } from './tracker-events.ts'

/** The network of all nodes whose address is unknown: together they have the share of one. */
export const unknownNetwork = ''

export interface TrackerCoreOptions {
  /** Neighbours per node, 2 to 64. */
  readonly degree: number
  readonly limits: TrackerLimits
  /** The strategy of each stream part's overlay; default `random` for all. */
  readonly overlay?: OverlayStrategyName | ((id: StreamPartId) => OverlayStrategyName)
}

export interface TrackerCoreModules {
  readonly random: Random
  /** Without it nodes are trusted. */
  readonly registry?: RegistryAnswers | undefined
}

/** Listeners for what a core does besides its effects. */
export interface CoreListeners {
  onTouched(id: StreamPartId): void
  onNewStreamPart(id: StreamPartId): void
  replicaOf(id: StreamPartId): Replica | undefined
  onFault(fault: TrackerFault): void
}

/** Looking through all members again waits this long: each that is there may choose when its delegation ends. */
const permitCheckMs = 1_000

/** The whole state of a tracker's core. The classes that share it decide what is done with it. */
export class CoreState {
  /** The time of the present event. */
  nowMs = 0
  /** When the first permission of a member ends. */
  permitsEndAtMs = Infinity
  /** When all members were looked through because one ended. */
  #permitsCheckedMs = -Infinity
  readonly counters = new Counters()
  readonly outbox = new Outbox({ counters: this.counters })
  readonly nodes = new Map<NodeId, NodeRecord>()
  readonly parts = new Map<StreamPartId, StreamPart>()
  /** Stream parts that the present event has changed. */
  readonly touched = new Set<StreamPart>()
  /** Places for nodes, shared out by the networks they come from. */
  readonly places: Shares<NodeRecord>
  readonly partPlaces: PartPlaces
  readonly missing: MissingStreams
  readonly schedule: Schedule
  readonly avoided: ExpiringPairs<NodeId>
  readonly signalling: Signalling
  readonly openOffers: OpenOffers
  readonly roles: Roles
  readonly storage: StorageDirectory
  readonly improver: Improver
  readonly resting: RestingParts
  readonly options: TrackerCoreOptions
  readonly random: Random
  readonly limits: TrackerLimits
  readonly listeners: CoreListeners

  constructor(
    options: TrackerCoreOptions,
    { random, registry }: TrackerCoreModules,
    listeners: CoreListeners,
  ) {
    const { limits } = options
    this.options = options
    this.random = random
    this.limits = limits
    this.listeners = listeners
    this.places = new Shares({ max: limits.maxNodes, evict: 'newest' })
    this.partPlaces = new PartPlaces(limits, {
      networkOf: (id) => this.nodes.get(id)?.network ?? unknownNetwork,
    })
    this.missing = new MissingStreams(limits)
    this.roles = new Roles(limits, registry)
    this.schedule = new Schedule(limits)
    this.avoided = new ExpiringPairs({ lifetimeMs: limits.avoidPairMs, maxPairs: limits.maxAvoidedPairs })
    this.storage = new StorageDirectory(limits, {
      random: random.fork('storage'),
      contactOf: (id) => this.nodes.get(id)?.contact,
      count: (name) => this.counters.count(name),
    })
    this.signalling = new Signalling(limits, {
      nodes: this.nodes,
      storage: this.storage,
      outbox: this.outbox,
      counters: this.counters,
    })
    this.openOffers = new OpenOffers(limits, {
      nodes: this.nodes,
      signalling: this.signalling,
      queue: this.schedule.openOffers,
      outbox: this.outbox,
      counters: this.counters,
    })
    this.improver = new Improver(limits)
    this.resting = new RestingParts(limits)
  }

  /** When there is something to do; Infinity when nothing is waited for. */
  get dueMs(): number {
    return Math.min(this.improver.dueMs, this.resting.dueMs, this.#permitsDueMs, this.schedule.dueMs)
  }

  /** Whether the permissions of all members are to be looked through, which begins with this. */
  takePermitsDue(): boolean {
    if (this.#permitsDueMs > this.nowMs) return false
    this.permitsEndAtMs = Infinity
    this.#permitsCheckedMs = this.nowMs
    return true
  }

  get #permitsDueMs(): number {
    return Math.max(this.permitsEndAtMs, this.#permitsCheckedMs + permitCheckMs)
  }
}
