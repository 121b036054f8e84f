import type { Server as HttpServer } from 'node:http'
import { maxPacketBytes, type LinkRole, type NodeId } from '@runnel/protocol'
import type { Channel } from '../connection/channel.ts'
import type { ConnectionLimits } from '../connection/limits.ts'
import { tagBytes } from '../noise/noise-suite.ts'
import type { AdmissionLimits } from './admission.ts'

/** An address to listen on. */
export interface ListenAddress {
  readonly host: string
  /** 0 takes any free one. */
  readonly port: number
  /**
   * Where others reach this node, when that is not the address: behind a proxy, a NAT, or on all interfaces. Who dialled it
   * elsewhere than here or at the address itself is refused: somebody in between passes itself off for this node. Without it
   * nobody is.
   */
  readonly publicUrl?: string
  /** Further URLs by which this node is dialled, that are not refused either: of containers, of a network inside, former ones. */
  readonly alsoKnownAs?: readonly string[]
  /** Certificate and key in PEM; with them the URL is wss. */
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer }
}

/** A server that somebody else starts, stops and uses for HTTP; WebSockets are taken on `/`. */
export interface ListenServer {
  readonly server: HttpServer
  readonly publicUrl?: string
  readonly alsoKnownAs?: readonly string[]
  /** Carries WebSockets on the paths of circuits on, as a tracker does. Default: there are none. */
  readonly circuits?: Circuits
}

/** Where circuits lead. */
export interface Circuits {
  /** Opens the way to the first tracker of `path`, and from there to the others. Rejects when there is none. */
  open(path: readonly NodeId[]): Promise<Channel>
  /** Bytes that may wait at either side of a circuit; then it is closed. */
  readonly maxQueuedBytes: number
}

export interface WebSocketOptions extends Partial<AdmissionLimits> {
  /** As what this side acts on its links. */
  readonly role: LinkRole
  /** Without it others cannot dial this node. */
  readonly listen?: ListenAddress | ListenServer
  /** Certificates in PEM to trust when dialling, instead of the usual ones. */
  readonly trustedCertificates?: string | Buffer
  /**
   * Whether to dial loopback, link-local and private addresses that others name: see `ToldDials`. Default: where a tracker was
   * dialled at one.
   */
  readonly dialsLocalAddresses?: boolean
  /** Limit for one dial, handshake included, in milliseconds. */
  readonly dialTimeoutMs?: number
  /** The address of this machine that dials go out from. Default: as the system chooses. */
  readonly localAddress?: string
}

export const webSocketDefaults = {
  maxConnections: 10_000,
  maxPendingHandshakes: 1024,
  dialTimeoutMs: 15_000,
} as const satisfies Partial<WebSocketOptions>

export type WebSocketSettings = WebSocketOptions & { readonly [K in keyof typeof webSocketDefaults]: number }

/** What has happened since the transport was made. */
export interface WebSocketCounters {
  opened: number
  /** Upgrades refused because of a limit. */
  refused: number
  /** Inbound connections and handshakes closed to make room for those of another network. */
  evicted: number
  /** Inbound handshakes that came to nothing. */
  failedHandshakes: number
  failedDials: number
}

/** The largest packet is one frame, sealed: a WebSocket needs no fragments. */
export const maxWebSocketFrameBytes = maxPacketBytes + tagBytes

/** How the `ws` library is set up, at both ends. */
export function socketOptions(limits: ConnectionLimits) {
  return {
    perMessageDeflate: false,
    maxPayload: maxWebSocketFrameBytes,
    allowSynchronousEvents: true,
    // Answered by the channel, which looks at what is queued first.
    autoPong: false,
    closeTimeout: limits.closeTimeoutMs,
  } as const
}
