import type { ConnectionModules } from './connection/modules.ts'
import type { Signalling, Transport } from './ports.ts'
import { TcpTransport, type TcpOptions } from './tcp/tcp-transport.ts'
import { nodeDataChannel } from './webrtc/node-data-channel.ts'
import { createPeerConnection } from './webrtc/node-peer-connection.ts'
import { WebRtcTransport, type WebRtcOptions } from './webrtc/web-rtc-transport.ts'
import { ToldDials } from './ws/told-dials.ts'
import { WebSocketTransport } from './ws/web-socket-transport.ts'
import type { ListenAddress } from './ws/ws-options.ts'

/** The transports of a node, and their settings. */
export interface TransportOptions {
  /** Default: no TCP. Empty: only dials. Other nodes do not assume TCP, so both ends must turn it on. */
  readonly tcp?: Pick<TcpOptions, 'listen' | 'maxConnections'> | false
  /** False: opens no WebSockets, and so reaches no tracker unless transports are injected. Default: dials, does not listen. */
  readonly websocket?:
    | {
        readonly listen?: ListenAddress
        readonly maxConnections?: number
        /** The local address that dials go out from. Default: chosen by the system. */
        readonly localAddress?: string
      }
    | false
  /** False: no WebRTC. Default: WebRTC with only the STUN servers that the trackers hand out. */
  readonly webrtc?: WebRtcOptions | false
}

/** The transports of a node on this platform, the cheapest first: links try them in this order. Throws WEBRTC_MISSING. */
export function createTransports(
  { tcp = false, websocket = {}, webrtc = {} }: TransportOptions,
  modules: ConnectionModules & { readonly signalling: Signalling },
): readonly Transport[] {
  // Said at once, rather than when the first neighbour is dialled.
  if (webrtc) nodeDataChannel()
  const dialling = { ...modules, toldDials: new ToldDials({}, modules.clock) }
  return [
    tcp && new TcpTransport({ ...tcp, role: 'node' }, dialling),
    websocket && new WebSocketTransport({ ...websocket, role: 'node' }, dialling),
    webrtc && new WebRtcTransport(webrtc, { ...modules, createPeerConnection }),
  ].filter((transport) => transport !== false)
}
