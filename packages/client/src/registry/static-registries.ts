import type { NodeId } from '@runnel/protocol'
import { clientError } from '../errors.ts'
import { keysOnly } from '../identity/request-signature.ts'
import { byUser, compare, hasAny } from './order.ts'
import {
  noPermissions,
  type DelegationRegistryReader,
  type DelegationRegistryWriter,
  type Permissions,
  type Registries,
  type StorageRegistryReader,
  type StorageRegistryWriter,
  type StreamInfo,
  type StreamRegistry,
  type StreamRegistryWriter,
  type UserPermissions,
} from './ports.ts'
import type { ParsedStaticNetwork, ParsedStaticStream } from './static-network.ts'

/** The registries of a network that is a document: they never change, and nothing can be written. */
export function createStaticRegistries(network: ParsedStaticNetwork): Registries {
  const trackers = [...network.trackers].sort((a, b) => compare(a.nodeId, b.nodeId))
  return {
    chainId: network.chainId,
    accounts: keysOnly,
    contracts: { accepts: refuseContract },
    streams: { ...streamReader(network), ...refusingWriter },
    trackers: { listTrackers: async () => trackers, listNodes: async () => undefined },
    storage: { ...storageReader(network), ...refusingStorageWriter },
    delegations: { ...delegationReader, ...refusingDelegationWriter },
    start: async () => {},
    stop: async () => {},
  }
}

function streamReader({ streams }: ParsedStaticNetwork): StreamRegistry {
  const byId = new Map(streams.map((stream) => [stream.id, stream]))
  const sorted = [...streams].sort((a, b) => compare(a.id, b.id)).map(toInfo)
  return {
    async getStream(streamId) {
      const stream = byId.get(streamId)
      return stream && toInfo(stream)
    },
    async listStreams({ owner } = {}) {
      return owner === undefined ? sorted : sorted.filter(({ id }) => id.startsWith(`${owner}/`))
    },
    async permissionsOf(streamId, user) {
      const stream = byId.get(streamId)
      return stream ? later(direct(stream, user), direct(stream, 'public')) : noPermissions
    },
    async permissionTable(streamId) {
      const stream = byId.get(streamId)
      return { entries: directPermissions(stream), block: 0, lossBlock: 0 }
    },
  }
}

function storageReader({ streams }: ParsedStaticNetwork): StorageRegistryReader {
  const byId = new Map(streams.flatMap(({ storageNodes }) => storageNodes.map((node) => [node.nodeId, node])))
  return {
    async storageNodesOf(streamId) {
      const nodes = streams.find(({ id }) => id === streamId)?.storageNodes ?? []
      return [...nodes].sort((a, b) => compare(a.nodeId, b.nodeId))
    },
    listStorageNodes: async () => [...byId.values()].sort((a, b) => compare(a.nodeId, b.nodeId)),
    async streamsStoredBy(nodeId) {
      const stored = streams.filter(({ storageNodes }) => storageNodes.some((node) => node.nodeId === nodeId))
      return stored.map(({ id }) => id).sort(compare)
    },
  }
}

/** What each user was given, and the public, ordered by user, without those that have nothing. */
export function directPermissions(stream: ParsedStaticStream | undefined): UserPermissions[] {
  const users = [...new Set(stream?.permissions.map(({ user }) => user))]
  const entries = users.map((user) => ({ user, ...(stream ? direct(stream, user) : noPermissions) }))
  return entries.filter(hasAny).sort(byUser)
}

/** A user listed more than once has the permissions of all its entries. */
function direct(stream: ParsedStaticStream, user: NodeId | 'public'): Permissions {
  return stream.permissions
    .filter((entry) => entry.user === user)
    .map((entry) => ({
      edit: entry.edit ?? false,
      delete: entry.delete ?? false,
      grant: entry.grant ?? false,
      publishUntilMs: entry.publish ?? 0,
      subscribeUntilMs: entry.subscribe ?? 0,
    }))
    .reduce(later, noPermissions)
}

function later(a: Permissions, b: Permissions): Permissions {
  return {
    edit: a.edit || b.edit,
    delete: a.delete || b.delete,
    grant: a.grant || b.grant,
    publishUntilMs: Math.max(a.publishUntilMs, b.publishUntilMs),
    subscribeUntilMs: Math.max(a.subscribeUntilMs, b.subscribeUntilMs),
  }
}

function toInfo({ id, partitions, metadata, trackers }: ParsedStaticStream): StreamInfo {
  return { id, partitions, metadata, trackers, createdMs: 0 }
}

async function refuse(): Promise<never> {
  throw clientError('REGISTRY_READ_ONLY')
}

const refusingWriter: StreamRegistryWriter = {
  createStream: refuse,
  updateStream: refuse,
  deleteStream: refuse,
  grant: refuse,
  revoke: refuse,
}

/** Nothing is taken back, and no contract can be asked. */
const delegationReader: DelegationRegistryReader = {
  hasContracts: false,
  revokedMs: async () => Infinity,
  isBacked: refuseContract,
}

async function refuseContract({ userId }: { readonly userId: NodeId }): Promise<never> {
  throw clientError('CONTRACT_NEEDS_CHAIN', `of ${userId}`)
}

const refusingDelegationWriter: DelegationRegistryWriter = {
  revokeDelegate: refuse,
  revokeDelegations: refuse,
}

const refusingStorageWriter: StorageRegistryWriter = {
  assign: refuse,
  unassign: refuse,
  register: refuse,
}
