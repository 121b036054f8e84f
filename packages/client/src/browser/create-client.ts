/// <reference lib="dom" />
/** The client for browsers: a page is a full member of the overlays it joins. */
import { createNetworkNode, type OnNetworkBack } from '@runnel/network'
import { isRunnelError } from '@runnel/protocol'
import { transportError } from '@runnel/transport'
import { followRegistry, openClient, type ClientModules, type CreateNode } from '../client.ts'
import type { ClientConfig as CoreConfig } from '../config.ts'
import { clientError } from '../errors.ts'
import { withDocument, type ClientConfig } from '../given-config.ts'
import type { RegistryService } from '../registry/registry-service.ts'
import type { SessionStore } from '../identity/session-store.ts'
import type { RunnelClient } from '../runnel-client.ts'
import { readNetworkFile } from './files.ts'
import { originStore } from './origin-store.ts'
import { withRoom } from './with-room.ts'

/**
 * Joins a network: checks the configuration, reads the registries and starts a node. Resolves before any tracker is connected. Throws
 * INVALID_CONFIG, INVALID_KEY, CHAIN_UNREACHABLE, CHAIN_MISMATCH, REGISTRY_MISSING, NO_WEBSOCKET, NO_WALLET if `wallet: window.ethereum` is
 * undefined, NO_WEBRTC unless WebRTC is turned off, or NOT_IN_PAGES with a network file. If it throws, nothing is left running.
 */
export async function createClient(
  config: ClientConfig,
  modules: Partial<ClientModules> = {},
): Promise<RunnelClient> {
  requirePlatform(config)
  for (const given of [config, modules]) requireWallet(given)
  return openClient(namingPage(withDocument(config, readNetworkFile)), {
    createNode: createPageNode,
    sessions: sessionsOf(config),
    ...modules,
  })
}

/** A node that makes use of what a page is told of its network. */
const createPageNode: CreateNode = (options, modules) =>
  createNetworkNode({ ...options, role: 'page' }, { ...modules, onNetworkBack })

const onNetworkBack: OnNetworkBack = (listener) => {
  addEventListener('online', listener)
  return () => removeEventListener('online', listener)
}

/**
 * Follows a network's registries without taking part in the network; `stop` ends it. Throws INVALID_CONFIG, CHAIN_UNREACHABLE, CHAIN_MISMATCH,
 * REGISTRY_MISSING, or NOT_IN_PAGES with a network file. If it throws, nothing is left running.
 */
export async function openRegistry(
  config: Pick<ClientConfig, 'network' | 'registry'>,
  modules: Omit<ClientModules, 'createNode'> = {},
): Promise<RegistryService> {
  return followRegistry(withDocument(config, readNetworkFile), modules)
}

/** What a signer is asked for names the page to its user. */
function namingPage(config: CoreConfig): CoreConfig {
  return { ...config, delegationRequest: { requester: location.origin, ...config.delegationRequest } }
}

/** All tabs of the origin share what one of them asked for; where the browser keeps nothing, or has no room, each asks for itself. */
function sessionsOf({ signer, wallet }: ClientConfig): SessionStore | undefined {
  if (signer === undefined && wallet === undefined) return undefined
  try {
    return withRoom(originStore())
  } catch (error) {
    if (isRunnelError(error, 'STORAGE_BLOCKED')) return undefined
    throw error
  }
}

/** A page that means its user's wallet must not act under a key of its own where there is none. */
function requireWallet(given: { readonly wallet?: unknown }): void {
  if ('wallet' in given && given.wallet === undefined) throw clientError('NO_WALLET')
}

/** Said at once, rather than when the first neighbour is dialled. */
function requirePlatform({ transports = {}, via }: ClientConfig): void {
  if (typeof WebSocket !== 'function') throw transportError('NO_WEBSOCKET')
  const hasWebRtc = via === undefined ? transports.webrtc !== false : Boolean(transports.webrtc)
  if (hasWebRtc && typeof RTCPeerConnection !== 'function') throw transportError('NO_WEBRTC')
}
