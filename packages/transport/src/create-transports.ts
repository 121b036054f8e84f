import type { ConnectionModules } from './connection/modules.ts'
import type { Signalling, Transport } from './ports.ts'
import { TcpTransport, type TcpOptions } from './tcp/tcp-transport.ts'
import { createPeerConnection } from './webrtc/node-peer-connection.ts'
import { WebRtcTransport, type WebRtcOptions } from './webrtc/web-rtc-transport.ts'
import { ToldDials } from './ws/told-dials.ts'
import { WebSocketTransport } from './ws/web-socket-transport.ts'
import type { ListenAddress } from './ws/ws-options.ts'

/** Ways of a node to its neighbours. */
export interface TransportOptions {
  /** Without it: no TCP. Empty: dials those who listen. Others know nothing of it, so it takes both ends. */
  readonly tcp?: Pick<TcpOptions, 'listen' | 'maxConnections'> | false
  /** False: opens no WebSockets, and so reaches no tracker unless transports are injected. Default: dials, does not listen. */
  readonly websocket?:
    | {
        readonly listen?: ListenAddress
        readonly maxConnections?: number
        /** The address of this machine that dials go out from; default: as the system chooses. */
        readonly localAddress?: string
      }
    | false
  /** False: no WebRTC. Default: with no STUN server but those the trackers hand out. */
  readonly webrtc?: WebRtcOptions | false
}

/** The transports of a node on this platform, the cheapest first: links try them in this order. */
export function createTransports(
  { tcp = false, websocket = {}, webrtc = {} }: TransportOptions,
  modules: ConnectionModules & { readonly signalling: Signalling },
): readonly Transport[] {
  const dialling = { ...modules, toldDials: new ToldDials({}, modules.clock) }
  return [
    tcp && new TcpTransport({ ...tcp, role: 'node' }, dialling),
    websocket && new WebSocketTransport({ ...websocket, role: 'node' }, dialling),
    webrtc && new WebRtcTransport(webrtc, { ...modules, createPeerConnection }),
  ].filter((transport) => transport !== false)
}
