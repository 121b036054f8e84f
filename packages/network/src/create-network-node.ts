import {
  boundsProblem,
  countsCapability,
  urgentCapability,
  guestsCapability,
  isSignedByKey,
  latestCapability,
  openOffersCapability,
  memoisedRecovery,
  reportsCapability,
  lossyCapability,
  shortCapability,
  thinCapability,
  verifyBatch,
  verifyMembership,
  type About,
  type Clock,
  type Crypto,
  type Delegation,
  type Identity,
  type MessageBatch,
  type NodeAdmission,
  type NodeId,
  type Random,
  type ReaderPolicy,
  type VerificationPool,
} from '@runnel/protocol'
import {
  createLinks,
  createTransports,
  type Acting,
  type ConnectionLimits,
  type ConnectionModules,
  type Signalling,
  type Transport,
  type TransportOptions,
} from '@runnel/transport'
import type { LightOptions } from './light.ts'
import { networkLimits, type NetworkLimits } from './limits.ts'
import { MembershipTokens } from './membership-tokens.ts'
import type { Archive, NetworkNode, OnNetworkBack, PublisherPolicy, TrackerDirectory } from './ports.ts'
import { NodeRuntime } from './runtime/node-runtime.ts'
import { softwareVersion } from './version.ts'

export interface NetworkNodeOptions {
  /** The transports to its neighbours. */
  readonly transports?: TransportOptions
  /** Overrides of the defaults in `networkLimits`. */
  readonly limits?: Partial<NetworkLimits>
  /** Limits of each link. */
  readonly connectionLimits?: Partial<ConnectionLimits>
  /** Time limit for opening one link, in milliseconds. Default 15,000. */
  readonly dialTimeoutMs?: number
  /**
   * Measures the age of messages on arrival, and how many links they took: for experiments, with all nodes of a stream part
   * alike. What the node forwards then carries this, unsigned, to its neighbours. Default false.
   */
  readonly tracing?: boolean
  /** What its trackers are told that it is, and show: lower-case letters, digits and hyphens, at most 16. Default `node`. */
  readonly role?: string
  /** Makes it a light node, or has it serve such nodes. Default: neither. */
  readonly light?: LightOptions | undefined
  /**
   * Whether it may ask neighbours for digests in place of late copies, and be asked: fewer copies of what comes often, and no message less.
   * False: every neighbour gets a copy of everything. Default true.
   */
  readonly thinFloods?: boolean
  /** A name for it that its trackers show to everybody: printable ASCII, at most 64. Default: none. */
  readonly name?: string
}

export interface NetworkNodeModules {
  readonly identity: Identity
  /**
   * Whether another process may have the node's key: then the node stops with NODE_REPLACED when a tracker says that one has taken its
   * place. Default true. A key that was made for this process nobody else has, whatever a tracker says.
   */
  readonly isKeyShared?: boolean | undefined
  readonly crypto: Crypto
  readonly clock: Clock
  readonly random: Random
  readonly publisherPolicy: PublisherPolicy
  /** Who may be a neighbour. Default: all. */
  readonly readerPolicy?: ReaderPolicy | undefined
  /** The user that the node acts for. Default: itself. */
  readonly user?: Identity | undefined
  readonly trackers: TrackerDirectory
  /** For whom the node acts by delegation, and on which chain delegations of others have to be. */
  readonly acting?: Acting | undefined
  /** With which nodes there may be links, in a private network. Default: with all. */
  readonly admission?: NodeAdmission | undefined
  /** Source of messages that no neighbour has. Default: none. */
  readonly archive?: Archive | undefined
  /**
   * Signals that the network is back, so that trackers and neighbours are dialled at once. Default: each waits for its
   * time.
   */
  readonly onNetworkBack?: OnNetworkBack | undefined
  /**
   * Transports to use instead of those the options describe, the cheapest first: for tests, the simulator, and other media. The
   * node starts them in this order and stops them in reverse.
   */
  readonly transports?: (
    modules: ConnectionModules & { readonly signalling: Signalling },
  ) => readonly Transport[]
  /** Where signatures of batches are checked once the node's own thread is behind; its owner stops it. Default: nowhere else. */
  readonly verification?: VerificationPool | undefined
  /** Checks a batch's signature. Default `verifyBatch`; something else only for measuring what it costs. */
  readonly verify?: (batch: MessageBatch, signerId: NodeId) => boolean
  /** What a fault, or the archive, threw; for a log. Called on a stack of its own: what it throws ends the process. */
  readonly onError?: (error: unknown) => void
}

/** The signature of a contract is for its chain to check. */
function isBelievable(delegation: Delegation, crypto: Crypto): boolean {
  if (boundsProblem(delegation) !== undefined) return false
  return delegation.block > 0 || isSignedByKey(delegation, crypto)
}

/** Of every node. */
const usualCapabilities = [
  reportsCapability,
  latestCapability,
  countsCapability,
  openOffersCapability,
  urgentCapability,
]

/** Time limit for one dial of a peer or a tracker, unless the options say otherwise. */
const defaultDialTimeoutMs = 15_000

/** Makes a node; nothing happens before its `start`. */
export function createNetworkNode(options: NetworkNodeOptions, modules: NetworkNodeModules): NetworkNode {
  const dialTimeoutMs = options.dialTimeoutMs ?? defaultDialTimeoutMs
  const { identity, crypto, random } = modules
  const limits = options.limits === undefined ? networkLimits : { ...networkLimits, ...options.limits }
  // On links and in batches a node meets the same delegations.
  const credentialCrypto = memoisedRecovery(crypto, limits.maxRememberedSigners)
  const { tracing = false, role = 'node', name = '', light } = options
  const { user = identity } = modules
  const tokens =
    user.nodeId === identity.nodeId
      ? undefined
      : new MembershipTokens({ nodeId: identity.nodeId }, { identity: user, crypto, clock: modules.clock })
  const about: About = { type: 'about', role, version: softwareVersion, name }
  const runtimeOptions = { limits, dialTimeoutMs, tracing, about }
  const thin = options.thinFloods === false ? [] : [thinCapability, lossyCapability, shortCapability]
  const guests = light?.hosts !== undefined || light?.servesGuests === true ? [guestsCapability] : []
  return new NodeRuntime(runtimeOptions, {
    ...modules,
    light,
    verify: modules.verify ?? ((batch, signerId) => verifyBatch(batch, crypto, signerId)),
    chainId: modules.acting?.chainId,
    verifyDelegation: (delegation) => isBelievable(delegation, credentialCrypto),
    membershipToken: () => tokens?.current(),
    verifyMembership: (token, nodeId, wallMs) => verifyMembership(token, nodeId, wallMs, crypto),
    wires: ({ signalling, contact, clock, onError }) => {
      const { connectionLimits } = options
      const connection: ConnectionModules = {
        ...{ identity, crypto, credentialCrypto, clock, random, onError },
        capabilities: [...usualCapabilities, ...thin, ...guests].map((name) => ({ name, required: false })),
        ...(modules.acting === undefined ? {} : { acting: modules.acting }),
        ...(connectionLimits === undefined ? {} : { limits: connectionLimits }),
      }
      const create = modules.transports ?? ((wire) => createTransports(options.transports ?? {}, wire))
      const transports = create({ ...connection, signalling })
      const { admission } = modules
      const links = createLinks(
        { self: identity.nodeId, contact, dialTimeoutMs },
        { clock, admission, transports },
      )
      return { transports, links }
    },
  })
}
