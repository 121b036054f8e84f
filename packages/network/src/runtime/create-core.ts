import {
  guestsCapability,
  networkOf,
  shortCapability,
  thinCapability,
  transportCode,
  type NodeId,
} from '@runnel/protocol'
import type { Connection } from '@runnel/transport'
import { NodeCore } from '../core/node-core.ts'
import type { NetworkLimits } from '../limits.ts'
import type { NodeRuntimeModules } from './runtime-modules.ts'

/** Makes the core of a node; it asks `peers` about open links. */
export function createCore(
  options: { readonly self: NodeId; readonly limits: NetworkLimits },
  modules: NodeRuntimeModules,
  peers: ReadonlyMap<NodeId, Connection>,
  verify: NodeRuntimeModules['verify'],
): NodeCore {
  const { publisherPolicy, readerPolicy } = modules
  const isHost = (peerId: NodeId): boolean | undefined =>
    peers.get(peerId)?.capabilities.has(guestsCapability)
  return new NodeCore(options, {
    hosts: modules.light?.hosts,
    isHost,
    servesGuests: modules.light?.servesGuests ?? false,
    lightParts: modules.light?.parts,
    networkOf: (peerId) => networkOf(peers.get(peerId)?.remoteAddress ?? ''),
    trackers: modules.trackers,
    random: () => modules.random.next(),
    crypto: modules.crypto,
    chainId: modules.chainId,
    verify,
    verifyDelegation: (delegation) => modules.verifyDelegation(delegation),
    actingFor: (peerId) => peers.get(peerId)?.actingFor,
    // Undefined is an answer of the policy: it does not know yet.
    readsForMs: (scope, userId, delegation) =>
      readerPolicy === undefined ? Infinity : readerPolicy.readsForMs(scope, userId, delegation),
    verifyMembership: (token, nodeId, wallMs) => modules.verifyMembership(token, nodeId, wallMs),
    membershipToken: () => modules.membershipToken(),
    checkPublisher: (scope, publisherId, wallMs, oldestMs, delegation) =>
      publisherPolicy.check(scope, publisherId, wallMs, oldestMs, delegation),
    rttOf: (peerId) => peers.get(peerId)?.rttMs,
    transportOf: (peerId) => codeOf(peers.get(peerId)),
    queuedBytes: (peerId) => peers.get(peerId)?.queuedBytes ?? 0,
    canThin: (peerId) => peers.get(peerId)?.capabilities.has(thinCapability) === true,
    canShorten: (peerId) => peers.get(peerId)?.capabilities.has(shortCapability) === true,
    canTakeMore: (peerId) => peers.get(peerId)?.writable ?? false,
    hasArchive: modules.archive !== undefined,
  })
}

function codeOf(connection: Connection | undefined): number {
  if (connection === undefined) return 0
  const { transport: kind, path } = connection
  return transportCode({ kind, relayed: path?.local === 'relay' || path?.remote === 'relay' })
}
