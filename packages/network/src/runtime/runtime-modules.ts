import type {
  About,
  AccessToken,
  Clock,
  Contact,
  Crypto,
  Delegation,
  Identity,
  MessageBatch,
  NodeId,
  Random,
  ReaderPolicy,
  VerificationPool,
} from '@runnel/protocol'
import type { LinksOwner, Signalling, Transport } from '@runnel/transport'
import type { NetworkLimits } from '../limits.ts'
import type { LightOptions } from '../light.ts'
import type { Archive, OnNetworkBack, PublisherPolicy, TrackerDirectory } from '../ports.ts'

export interface NodeRuntimeOptions {
  readonly limits: NetworkLimits
  readonly dialTimeoutMs: number
  /** Whether it measures how long messages take. */
  readonly tracing: boolean
  /** What trackers are told of it. */
  readonly about: About
}

export interface NodeRuntimeModules {
  readonly identity: Identity
  readonly isKeyShared?: boolean | undefined
  readonly crypto: Crypto
  readonly clock: Clock
  readonly random: Random
  /** True when the key of this address signed a batch. */
  readonly verify: (batch: MessageBatch, signerId: NodeId) => boolean
  /** Where it verifies once its own thread is behind. Default: nowhere else. */
  readonly verification?: VerificationPool | undefined
  /** The chain on which delegations have to be; undefined: any will do. */
  readonly chainId?: number | undefined
  /** Whether a delegation is signed by its user, as far as can be said without a chain, and within bounds. */
  readonly verifyDelegation: (delegation: Delegation) => boolean
  /** True when the user that a token names lets the node act in its name. */
  readonly verifyMembership: (token: AccessToken, nodeId: NodeId, wallMs: number) => boolean
  readonly publisherPolicy: PublisherPolicy
  readonly readerPolicy?: ReaderPolicy | undefined
  /** Proof that the node acts for a user; undefined when it acts for itself. */
  readonly membershipToken: () => AccessToken | undefined
  readonly trackers: TrackerDirectory
  readonly archive?: Archive | undefined
  readonly light?: LightOptions | undefined
  readonly onNetworkBack?: OnNetworkBack | undefined
  readonly onError?: ((error: unknown) => void) | undefined
  /** Built by whoever builds the runtime, because they need each other: signalling goes through the runtime. */
  readonly wires: (runtime: RuntimeOfWires) => NodeWires
}

/** What transports and links need from the runtime. */
interface RuntimeOfWires {
  readonly signalling: Signalling
  /** An error in a scheduled call is a fault, and goes no further. */
  readonly clock: Clock
  contact(): Contact
  /** Called with what a callback of a connection threw; that connection was closed. */
  onError(error: unknown): void
}

/** The transports, and the links over them. */
export interface NodeWires {
  /** A tracker is dialled over the first that can dial its URL. */
  readonly transports: readonly Transport[]
  readonly links: LinksOwner
}
