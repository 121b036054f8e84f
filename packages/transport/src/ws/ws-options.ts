import type { Server as HttpServer } from 'node:http'
import { maxPacketBytes, type LinkRole, type NodeId } from '@runnel/protocol'
import type { Channel } from '../connection/channel.ts'
import type { ConnectionLimits } from '../connection/limits.ts'
import { tagBytes } from '@runnel/protocol'
import type { InboundWaiting, PausableChannel } from '../circuit/waiting-socket.ts'
import type { AdmissionLimits } from './admission.ts'

/** An address to listen on. */
export interface ListenAddress {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  /**
   * The URL at which others reach this node when it differs from the address: behind a proxy, a NAT, or on all interfaces. A
   * peer that dialled any other address is refused, because somebody in between may pass itself off as this node. Without a
   * public URL nobody is refused.
   */
  readonly publicUrl?: string
  /** Further URLs at which this node is dialled and not refused: of containers, of an internal network, former ones. */
  readonly alsoKnownAs?: readonly string[]
  /** Certificate and key in PEM; with them the URL is wss. */
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer }
  /** Circuits that this node carries to others. Default: none. */
  readonly circuits?: Circuits | undefined
}

/** A server that its owner starts, stops and uses for HTTP; WebSockets are accepted on `/`. */
export interface ListenServer {
  readonly server: HttpServer
  readonly publicUrl?: string
  readonly alsoKnownAs?: readonly string[]
  /** Continues WebSockets on the paths of circuits, as a tracker does. Default: no circuits. */
  readonly circuits?: Circuits
}

/** Where circuits lead. */
export interface Circuits {
  /**
   * Opens a channel to the first of `path`, and through it to the others, for somebody at `address`. Rejects when there is
   * none.
   */
  open(path: readonly NodeId[], address: string): Promise<Channel>
  /** Bytes that may wait at either side of a circuit; above it the circuit is closed. */
  readonly maxQueuedBytes: number
  /** Lets nodes wait for circuits to them; trackers have none. */
  wait?(inbound: InboundWaiting): void
  /** Called with what each side of a new circuit sends. */
  pace?(): (from: PausableChannel, bytes: number) => void
  /** By the names of a node's metrics. */
  readonly metrics?: Readonly<Record<string, number>>
  stop?(): void
}

/** In an answer that refuses a circuit: why. What only a node that carries circuits says. */
export const circuitHeader = 'runnel-circuit'

export interface WebSocketOptions extends Partial<AdmissionLimits> {
  /** The role this side acts in on its links. */
  readonly role: LinkRole
  /** Without it others cannot dial this node. */
  readonly listen?: ListenAddress | ListenServer
  /** Certificates in PEM to trust when dialling, instead of the usual ones. */
  readonly trustedCertificates?: string | Buffer
  /**
   * Whether to dial loopback, link-local and private addresses that others name: see `ToldDials`. Default: if a tracker was
   * dialled at one.
   */
  readonly dialsLocalAddresses?: boolean
  /** Time limit for one dial, handshake included, in milliseconds. */
  readonly dialTimeoutMs?: number
  /** The local address that dials go out from. Default: chosen by the system. */
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
  /** Inbound connections and handshakes closed to make room for those of other networks. */
  evicted: number
  /** Inbound handshakes that failed. */
  failedHandshakes: number
  failedDials: number
}

/** Options for URLs that a node may be told to dial. */
export const webSocketSchemes = ['ws', 'wss']

/** The largest packet is one frame, sealed: a WebSocket needs no fragments. */
export const maxWebSocketFrameBytes = maxPacketBytes + tagBytes

/** How the `ws` library is set up, at both ends. */
export function socketOptions(limits: ConnectionLimits) {
  return {
    perMessageDeflate: false,
    maxPayload: maxWebSocketFrameBytes,
    allowSynchronousEvents: true,
    // The channel answers, because it checks its queue first.
    autoPong: false,
    closeTimeout: limits.closeTimeoutMs,
  } as const
}
