import type { ConnectionModules } from '../connection/modules.ts'
import { transportError } from '../errors.ts'
import type { Signalling, Transport } from '../ports.ts'
import { WebRtcTransport, type WebRtcOptions } from '../webrtc/web-rtc-transport.ts'
import { createPeerConnection } from './peer-connection.ts'
import { WebSocketTransport } from './web-socket-transport.ts'

/** As in Node, limited to what a page has. */
export interface TransportOptions {
  /** A page has none. */
  readonly tcp?: object | false
  readonly websocket?: { readonly maxConnections?: number } | false
  readonly webrtc?: WebRtcOptions | false
}

/** The transports of a node in a page, the cheapest first: links try them in this order. Throws LISTEN_FAILED. */
export function createTransports(
  { tcp = false, websocket = {}, webrtc = {} }: TransportOptions,
  modules: ConnectionModules & { readonly signalling: Signalling },
): readonly Transport[] {
  if (tcp) throw transportError('LISTEN_FAILED', 'a page has no TCP')
  return [
    websocket && new WebSocketTransport({ ...websocket, role: 'node' }, modules),
    webrtc && new WebRtcTransport(webrtc, { ...modules, createPeerConnection }),
  ].filter((transport) => transport !== false)
}
