import { isRunnelError, type NodeId } from '@runnel/protocol'
import { boundedText } from '@runnel/protocol/system'
import { trackerError } from '../errors.ts'
import type { ClusterLimits } from './limits.ts'
import type { RegisteredTracker } from './ports.ts'

/** Where a tracker can be dialled in the cluster. */
export interface ClusterAddress {
  readonly peerId: string
  readonly addresses: readonly string[]
}

const addressPattern =
  /^\/(ip4|ip6|dns|dns4|dns6)\/[^/\s]{1,255}\/tcp\/\d{1,5}(\/p2p\/[1-9A-HJ-NP-Za-km-z]{1,100})?$/

/**
 * Asks a tracker for its address in the cluster, at its URL from the registry. The answer is trusted only if the peer id is
 * that of the registered key. Throws CLUSTER_PEER_UNREACHABLE or CLUSTER_PEER_WRONG_KEY.
 */
export async function discover(
  { nodeId, url }: RegisteredTracker,
  limits: Pick<ClusterLimits, 'discoveryTimeoutMs' | 'maxDiscoveryBytes' | 'maxAddresses'>,
  modules: { readonly nodeIdOfPeer: (peerId: string) => NodeId | undefined },
): Promise<ClusterAddress> {
  const { peerId, addresses } = await ask(url, limits)
  if (modules.nodeIdOfPeer(peerId) !== nodeId)
    throw trackerError('CLUSTER_PEER_WRONG_KEY', `${nodeId} at ${url}`)
  const usable = addresses
    .filter((address) => addressPattern.test(address))
    .slice(0, limits.maxAddresses)
    .map((address) => (address.includes('/p2p/') ? address : `${address}/p2p/${peerId}`))
  if (usable.length === 0) throw trackerError('CLUSTER_PEER_UNREACHABLE', `${url} names no address`)
  return { peerId, addresses: usable }
}

async function ask(
  url: string,
  { discoveryTimeoutMs, maxDiscoveryBytes }: Pick<ClusterLimits, 'discoveryTimeoutMs' | 'maxDiscoveryBytes'>,
): Promise<ClusterAddress> {
  try {
    const response = await fetch(clusterUrl(url), {
      redirect: 'error',
      signal: AbortSignal.timeout(discoveryTimeoutMs),
    })
    if (!response.ok) throw trackerError('CLUSTER_PEER_UNREACHABLE', `${url} answers ${response.status}`)
    const text = await boundedText(response, maxDiscoveryBytes)
    if (text === undefined)
      throw trackerError('CLUSTER_PEER_UNREACHABLE', `an answer of more than ${maxDiscoveryBytes} bytes`)
    const { peerId, addresses } = JSON.parse(text) as Record<string, unknown>
    if (typeof peerId !== 'string' || !isTexts(addresses))
      throw trackerError('CLUSTER_PEER_UNREACHABLE', `${url} does not say where it is in the cluster`)
    return { peerId, addresses }
  } catch (cause) {
    if (isRunnelError(cause)) throw cause
    throw trackerError('CLUSTER_PEER_UNREACHABLE', `${url} (${reasonOf(cause)})`, { cause })
  }
}

/** A tracker's HTTP API has the same host and port as its WebSocket. */
function clusterUrl(url: string): string {
  const { protocol, host } = new URL(url)
  return `${protocol === 'wss:' ? 'https' : 'http'}://${host}/v1/cluster`
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

/** The innermost reason: `fetch` itself reports only that it failed. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? error.cause.message : error.message
}
