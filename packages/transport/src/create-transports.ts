import { CircuitCarrier } from './circuit/circuit-carrier.ts'
import { CircuitTransport, type CircuitOptions, type OpenSocket } from './circuit/circuit-transport.ts'
import type { CircuitLimits } from './circuit/limits.ts'
import { connectionLimits } from './connection/limits.ts'
import type { ConnectionModules } from './connection/modules.ts'
import type { Signalling, Transport } from './ports.ts'
import { TcpTransport, type TcpOptions } from './tcp/tcp-transport.ts'
import { nodeDataChannel } from './webrtc/node-data-channel.ts'
import { createPeerConnection } from './webrtc/node-peer-connection.ts'
import type { CreatePeerConnection } from './webrtc/peer-connection-port.ts'
import { tunnelHost } from './webrtc/turn-tunnel.ts'
import { TurnTunnels } from './webrtc/turn-tunnels.ts'
import { WebRtcTransport, type WebRtcOptions } from './webrtc/web-rtc-transport.ts'
import { asDialError, checkedUrl, connectWebSocket } from './ws/connect-web-socket.ts'
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
        readonly listen?: Omit<ListenAddress, 'circuits'>
        readonly maxConnections?: number
        /** The local address that dials go out from. Default: chosen by the system. */
        readonly localAddress?: string
      }
    | false
  /** False: no WebRTC. Default: WebRTC with only the STUN servers that the trackers hand out. */
  readonly webrtc?: WebRtcOptions | false
  /**
   * False: no links over circuits. Default: where there is no other way, over the carriers that trackers name; a node that does
   * not listen waits at one of them.
   */
  readonly circuits?:
    | (Omit<CircuitOptions, 'waits'> & {
        /** Whether, and how much, this node carries between others; it has to listen for WebSockets. Default: not. */
        readonly carries?: Partial<CircuitLimits> | false
      })
    | false
}

type Modules = ConnectionModules & { readonly signalling: Signalling }

/** The transports of a node on this platform, the cheapest first: links try them in this order. Throws WEBRTC_MISSING. */
export function createTransports(
  { tcp = false, websocket = {}, webrtc = {}, circuits = {} }: TransportOptions,
  modules: Modules,
): readonly Transport[] {
  // Said at once, rather than when the first neighbour is dialled.
  if (webrtc) nodeDataChannel()
  const toldDials = new ToldDials({}, modules.clock)
  const dialling = { ...modules, toldDials }
  const listen = websocket && websocket.listen
  const carrier = circuits && circuits.carries ? new CircuitCarrier(circuits.carries, modules) : undefined
  const listening = listen && { listen: { ...listen, circuits: carrier } }
  const isDialled = Boolean(listen) || (tcp !== false && tcp.listen !== undefined)
  const openSocket = openSocketOf(modules, websocket === false ? undefined : websocket.localAddress)
  return [
    tcp && new TcpTransport({ ...tcp, role: 'node' }, dialling),
    websocket && new WebSocketTransport({ ...websocket, ...listening, role: 'node' }, dialling),
    webrtc && createWebRtcTransport(webrtc, modules),
    websocket &&
      circuits &&
      new CircuitTransport({ ...circuits, waits: !isDialled }, { ...dialling, openSocket }),
  ].filter((transport) => transport !== false)
}

/**
 * The library sends its checks to the other side's addresses also where it may use relays only, and so shows its own. There it is bound to this
 * machine, and reaches TURN servers by tunnels.
 */
function createWebRtcTransport(options: WebRtcOptions, modules: Modules): WebRtcTransport {
  const isHidden = options.iceTransportPolicy === 'relay'
  const tunnels = new TurnTunnels({
    ...{ always: isHidden, localAddress: options.bindAddress },
    clock: modules.clock,
  })
  const hidden: CreatePeerConnection = (given, events) =>
    createPeerConnection({ ...given, bindAddress: tunnelHost }, events)
  const create = isHidden ? hidden : createPeerConnection
  return new WebRtcTransport(options, { ...modules, createPeerConnection: create, tunnels })
}

function openSocketOf({ clock, limits }: ConnectionModules, localAddress: string | undefined): OpenSocket {
  return ({ url, told }, onChannel, onFail) => {
    try {
      const options = { url: checkedUrl(url), told, limits: connectionLimits(limits), kind: 'circuit' }
      return connectWebSocket({ ...options, trustedCertificates: undefined, localAddress }, onChannel, onFail)
    } catch (error) {
      clock.endOfTurn(() => onFail(asDialError(error, url)))
      return () => {}
    }
  }
}
