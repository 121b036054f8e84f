import { CircuitTransport, type CircuitOptions, type OpenSocket } from '../circuit/circuit-transport.ts'
import { connectionLimits } from '../connection/limits.ts'
import type { ConnectionModules } from '../connection/modules.ts'
import { transportError } from '../errors.ts'
import type { Signalling, Transport } from '../ports.ts'
import { WebRtcTransport, type WebRtcOptions } from '../webrtc/web-rtc-transport.ts'
import { ToldDials } from '../ws/told-dials.ts'
import { connectSocket } from './connect-socket.ts'
import { createPeerConnection } from './peer-connection.ts'
import { WebSocketTransport } from './web-socket-transport.ts'

/** As in Node, limited to what a page has. */
export interface TransportOptions {
  /** A page has none. */
  readonly tcp?: object | false
  readonly websocket?: { readonly maxConnections?: number } | false
  readonly webrtc?: WebRtcOptions | false
  /** A page carries nothing for others. */
  readonly circuits?: (Omit<CircuitOptions, 'waits'> & { readonly carries?: object | false }) | false
}

/** The transports of a node in a page, the cheapest first: links try them in this order. Throws LISTEN_FAILED. */
export function createTransports(
  { tcp = false, websocket = {}, webrtc = {}, circuits = {} }: TransportOptions,
  modules: ConnectionModules & { readonly signalling: Signalling },
): readonly Transport[] {
  if (tcp) throw transportError('LISTEN_FAILED', 'a page has no TCP')
  if (circuits && circuits.carries) throw transportError('LISTEN_FAILED', 'a page carries no circuits')
  const { clock } = modules
  const toldDials = new ToldDials({}, clock)
  const openSocket: OpenSocket = ({ url, told }, onChannel, onFail) => {
    const options = { url, beforeDial: () => told.begin(), kind: 'circuit' }
    return connectSocket(options, { clock, limits: connectionLimits(modules.limits) }, onChannel, onFail)
  }
  return [
    websocket && new WebSocketTransport({ ...websocket, role: 'node' }, { ...modules, toldDials }),
    webrtc && new WebRtcTransport(webrtc, { ...modules, createPeerConnection }),
    websocket &&
      circuits &&
      new CircuitTransport({ ...circuits, waits: true }, { ...modules, toldDials, openSocket }),
  ].filter((transport) => transport !== false)
}
