import type { RpcStatus } from '@runnel/contracts'
import type { TrackerAddress } from '@runnel/network'
import type { AccountsOnChain } from '../identity/request-signature.ts'
import type { Delegation, NodeId, StreamId } from '@runnel/protocol'

/** A stream in the registry. */
export interface StreamInfo {
  readonly id: StreamId
  /** 1 to 100. */
  readonly partitions: number
  /** Free text of the users who may edit the stream; by convention JSON. Hostile until checked. */
  readonly metadata: string
  /** The stream's own trackers; if empty, the network's are used. */
  readonly trackers: readonly NodeId[]
  /**
   * When the stream was created, by the chain's time (Unix milliseconds, whole seconds); 0 if unknown. Older messages belong to an earlier stream
   * with the same id: see `predates`.
   */
  readonly createdMs: number
}

/** The name of a permission, as in the stream registry. */
export type PermissionName = 'edit' | 'delete' | 'publish' | 'subscribe' | 'grant'

/** What a user may do with a stream. */
export interface Permissions {
  readonly edit: boolean
  readonly delete: boolean
  readonly grant: boolean
  /** May publish before this time (Unix milliseconds); 0 is never, Infinity for ever. */
  readonly publishUntilMs: number
  /** May subscribe before this time (Unix milliseconds); 0 is never, Infinity for ever. */
  readonly subscribeUntilMs: number
}

export const noPermissions: Permissions = {
  edit: false,
  delete: false,
  grant: false,
  publishUntilMs: 0,
  subscribeUntilMs: 0,
}

/** The permissions of a user or of the public. */
export interface UserPermissions extends Permissions {
  readonly user: NodeId | 'public'
}

/** Everybody's permissions on a stream. */
export interface PermissionTable {
  /** Users without any are left out. Ordered by user, 'public' first. */
  readonly entries: readonly UserPermissions[]
  /** The chain's block at which the permissions were read; 0 if there is no chain. */
  readonly block: number
  /** The newest block in which a user lost the permission to subscribe or to grant; 0 if none did. Permissions that expire do not count. */
  readonly lossBlock: number
}

/** Reads streams and permissions. Every method throws CHAIN_UNREACHABLE or CHAIN_CALL_FAILED when there is a chain and it does not answer. */
export interface StreamRegistry {
  /** Undefined when it does not exist. */
  getStream(streamId: StreamId): Promise<StreamInfo | undefined>
  /** All streams, or those of one owner, ordered by id. */
  listStreams(filter?: { readonly owner?: NodeId | undefined }): Promise<readonly StreamInfo[]>
  /** Permissions given to the user or public, whichever lasts longer; none for a stream that does not exist. */
  permissionsOf(streamId: StreamId, user: NodeId): Promise<Permissions>
  /** Empty for a stream that does not exist. */
  permissionTable(streamId: StreamId): Promise<PermissionTable>
}

/** What a new stream is made of. */
export interface StreamDraft {
  /** Begins with the address of the account that creates it. */
  readonly id: StreamId
  readonly partitions: number
  readonly metadata: string
  readonly trackers: readonly NodeId[]
}

/** New settings of a stream; settings not named stay as they are. */
export type StreamSettings = Partial<Omit<StreamDraft, 'id'>>

/** The permissions of a grant, its user and its expiry. */
export interface Grant {
  readonly user: NodeId | 'public'
  readonly permissions: readonly PermissionName[]
  /** Unix milliseconds; Infinity for ever. Only publish and subscribe can end. */
  readonly untilMs: number
}

/**
 * Changes streams and permissions, in the name of one account. Every method resolves when the change is in force, and
 * throws REGISTRY_REFUSED with the reason, INSUFFICIENT_FUNDS, TRANSACTION_FAILED, CHAIN_UNREACHABLE or REGISTRY_READ_ONLY.
 */
export interface StreamRegistryWriter {
  createStream(draft: StreamDraft): Promise<void>
  /** Needs the edit permission. */
  updateStream(streamId: StreamId, settings: StreamSettings): Promise<void>
  deleteStream(streamId: StreamId): Promise<void>
  grant(streamId: StreamId, grant: Grant): Promise<void>
  revoke(streamId: StreamId, grant: Omit<Grant, 'untilMs'>): Promise<void>
}

/** Reads the trackers of the network, and the list of nodes that may take part. */
export interface TrackerRegistryReader {
  /** All of them, ordered by id. URLs are written by their owners: hostile until checked. */
  listTrackers(): Promise<readonly TrackerAddress[]>
  /** The nodes that may take part, ordered by id; undefined when all may. */
  listNodes(): Promise<readonly NodeId[] | undefined>
}

/** A storage node as found in the registry. */
export interface StorageNodeInfo {
  readonly nodeId: NodeId
  /** Hostile until checked. */
  readonly url: string
}

/** Reads which storage nodes there are, and which keep a stream. */
export interface StorageRegistryReader {
  /** Ordered by id; none for a stream that does not exist. */
  storageNodesOf(streamId: StreamId): Promise<readonly StorageNodeInfo[]>
  /** All of them, ordered by id. */
  listStorageNodes(): Promise<readonly StorageNodeInfo[]>
  /** Streams that the storage node was asked to keep, ordered by id. */
  streamsStoredBy(nodeId: NodeId): Promise<readonly StreamId[]>
}

/** Changes which storage nodes keep a stream; rejects as `StreamRegistryWriter` does. */
export interface StorageRegistryWriter {
  /** Asks a registered storage node to keep a stream; needs the edit permission on it. */
  assign(streamId: StreamId, nodeId: NodeId): Promise<void>
  /** Needs the edit permission on the stream, or to be the storage node. */
  unassign(streamId: StreamId, nodeId: NodeId): Promise<void>
  /** Registers the account as a storage node, or changes its URL. */
  register(url: string): Promise<void>
}

/** Reads whether delegations hold; rejects as `StreamRegistry` does. */
export interface DelegationRegistryReader {
  /** False if no chain can be asked: `isBacked` throws CONTRACT_NEEDS_CHAIN, and delegations of contracts are refused. */
  readonly hasContracts: boolean
  /** When the user revoked the delegation, in Unix milliseconds of the chain (whole seconds); Infinity if not revoked. */
  revokedMs(delegation: Pick<Delegation, 'userId' | 'delegateId' | 'fromMs'>): Promise<number>
  /**
   * Whether the user, a contract, accepts the signature of a delegation as its own (ERC-1271): now, or when it was signed, at the block that the
   * delegation names, if the state of that block is still known. A contract that fails in any way does not accept it.
   */
  isBacked(delegation: Delegation, at: 'now' | 'signed'): Promise<boolean>
}

/** A signature that a user which is a contract is asked about. */
interface ContractSignature {
  readonly userId: NodeId
  /** What was signed: 32 bytes. */
  readonly digest: Uint8Array
  readonly signature: Uint8Array
}

/** Asks users that are contracts; rejects as `StreamRegistry` does. */
export interface ContractReader {
  /**
   * Whether the contract accepts the signature as its own now (ERC-1271). A contract that fails in any way does not. Throws CONTRACT_NEEDS_CHAIN if
   * no chain can be asked.
   */
  accepts(signature: ContractSignature): Promise<boolean>
}

/** Ends delegations of the account; rejects as `StreamRegistryWriter` does, and with REGISTRY_OUTDATED. */
export interface DelegationRegistryWriter {
  /** All to a delegate, for ever. */
  revokeDelegate(delegateId: NodeId): Promise<void>
  /** All that began at a time (Unix milliseconds) or before. */
  revokeDelegations(begunByMs: number): Promise<void>
}

/** Something in a registry changed, or a change was undone: earlier reads may be out of date. */
export type RegistryChange =
  | { readonly kind: 'trackers' }
  /** The nodes that may take part in a private network changed. */
  | { readonly kind: 'nodes' }
  | { readonly kind: 'stream'; readonly streamId: StreamId }
  | {
      readonly kind: 'permissions'
      readonly streamId: StreamId
      readonly user: NodeId | 'public'
      /** The chain's block with the change; undefined if it is not known yet. */
      readonly block?: number
      /** The permissions that the change gave the user, apart from public ones; undefined if they are not told, as when a change was undone. */
      readonly permissions?: Permissions
    }
  | { readonly kind: 'storage' }
  /** The user ended delegations: all to a delegate, or all that began at a time (Unix milliseconds) or before. */
  | { readonly kind: 'delegations'; readonly userId: NodeId; readonly delegateId: NodeId }
  | { readonly kind: 'delegations'; readonly userId: NodeId; readonly begunByMs: number }
  /** Changes may have been missed, or more were undone than can be told: everything that was read is forgotten. */
  | { readonly kind: 'unknown' }

/** Whether the source of the registries answers. */
export interface RegistryHealth {
  readonly state: 'reachable' | 'unreachable'
  /** Where the registries are read. */
  readonly source: string
  readonly error?: Error
}

interface RegistryEvents {
  onChange(change: RegistryChange): void
  /** Only when it changes. */
  onHealth(health: RegistryHealth): void
  /** The state of one of several endpoints, or of a source of a document; only when it changes. */
  onEndpoint?(status: RpcStatus): void
}

/** The registries of a network, wherever they stand. */
export interface Registries {
  /** The id of the chain with the registries; 0 if they are on no chain. */
  readonly chainId: number
  /** The account in whose name changes are made; undefined if nothing can be changed. */
  readonly account?: NodeId | undefined
  /** Which users are contracts. */
  readonly accounts: AccountsOnChain
  readonly streams: StreamRegistry & StreamRegistryWriter
  readonly trackers: TrackerRegistryReader
  readonly storage: StorageRegistryReader & StorageRegistryWriter
  readonly delegations: DelegationRegistryReader & DelegationRegistryWriter
  readonly contracts: ContractReader
  /** Returns the text of the owner's signed document; absent if there is none. */
  document?(): string
  /** The state of each of several chain endpoints, or of each source of a document. */
  endpoints?(): readonly RpcStatus[]
  /** Checks that the registries are there, and begins to report changes. Throws CHAIN_UNREACHABLE, CHAIN_MISMATCH or REGISTRY_MISSING. Idempotent. */
  start(events: RegistryEvents): Promise<void>
  /** Idempotent. */
  stop(): Promise<void>
}
