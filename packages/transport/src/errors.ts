import { errorFactory, type ErrorTable } from '@runnel/protocol'

/** Error and close codes of `@runnel/transport`. */
export const transportErrors = {
  DIAL_FAILED: {
    summary: 'Could not connect',
    remedy: 'Check that the other side is running, and that its address is correct and reachable.',
  },
  DIAL_TIMEOUT: {
    summary: 'No connection within the time limit',
    remedy:
      'Check the network and the firewalls between the two. For WebRTC, also check the STUN and TURN servers.',
  },
  NO_COMMON_TRANSPORT: {
    summary: 'The two peers have no common transport',
    remedy: 'Allow WebRTC on both, or give one of them a WebSocket URL that the other can reach.',
  },
  NO_SIGNALLING: {
    summary: 'No tracker relays signalling to this peer',
    remedy: 'Check the connection to the tracker.',
  },
  NO_WEBRTC: {
    summary: 'The browser does not support WebRTC, or blocks it',
    remedy:
      'Allow WebRTC, or use another browser. With transports: { webrtc: false }, only nodes with a WebSocket URL can be neighbours.',
  },
  WEBRTC_MISSING: {
    summary: 'WebRTC is not installed for this platform',
    remedy:
      'Remove node_modules and run npm install on this machine, without --omit=optional. Or go without WebRTC: set transports: { webrtc: false }. docs/installing.md says what each platform supports.',
  },
  NO_WEBSOCKET: {
    summary: 'The browser does not support WebSocket',
    remedy: 'Use another browser: trackers can be reached over WebSocket only.',
  },
  OFFLINE: {
    summary: 'The browser is offline',
    remedy: 'Connect it to a network. The node then reconnects.',
  },
  NO_CIRCUIT: {
    summary: 'The node that carries circuits cannot reach the peer',
    remedy: 'The peer has left, or has moved to another carrier. Its tracker says where it is now.',
  },
  INVALID_ICE_SERVER: {
    summary: 'Not an ICE server',
    remedy: 'Write stun:host:port, or turn:host:port with a user name and a credential.',
  },
  PEER_ID_MISMATCH: {
    summary: 'Another node answered',
    remedy:
      'The address belongs to a different node than expected. Correct it where it is configured or registered.',
  },
  HANDSHAKE_FAILED: {
    summary: 'The other side did not prove its id',
    remedy: 'It is broken, hostile, or speaks another protocol.',
  },
  CAPABILITY_MISSING: {
    summary: 'One side requires a capability that the other lacks',
    remedy: 'Update the software of the side that lacks it, or turn off the requirement on the other side.',
  },
  NOT_AUTHENTIC: {
    summary: 'A frame is not the next one that the other side sent',
    remedy:
      'Something on the path alters the traffic, or one side is broken. The link is reopened if it is still needed.',
  },
  HANDSHAKE_TIMEOUT: {
    summary: 'The other side did not finish the handshake in time',
    remedy: 'It is overloaded or hostile. Nothing to do here.',
  },
  PROTOCOL_VIOLATION: {
    summary: 'The other side violated the protocol',
    remedy: 'It is broken or hostile. The connection was closed.',
  },
  FRAME_TOO_LARGE: {
    summary: 'A frame or packet is larger than the limit',
    remedy: 'Send less at once. docs/limits.md lists every limit.',
  },
  PEER_DEAD: {
    summary: 'The other side no longer answers',
    remedy: 'It crashed or lost its network. The overlay replaces it.',
  },
  SLOW_PEER: {
    summary: 'The other side does not read its data',
    remedy: 'It is overloaded, or its network is too slow for the stream.',
  },
  TOO_MANY_CONNECTIONS: {
    summary: 'The connection limit is reached',
    remedy: 'Raise the limit in the configuration, or run another process.',
  },
  DUPLICATE_CONNECTION: {
    summary: 'There is already a connection to the same peer',
    remedy: 'Nothing to do: the other connection is used.',
  },
  PORT_IN_USE: {
    summary: 'The port is already in use',
    remedy:
      'Choose another port (tracker: --port; node: --websocket-port, --http-port, --http-gateway-port, --mqtt-port; up: --tracker-port), or stop the process that uses it.',
  },
  LISTEN_FAILED: {
    summary: 'Could not listen',
    remedy: 'Check the host and the port in the configuration, and the permissions.',
  },
  CONNECTION_LOST: {
    summary: 'The connection was lost',
    remedy: 'Nothing to do: it is reopened if it is still needed.',
  },
  TLS_FAILED: {
    summary: 'The certificate of the other side was not accepted',
    remedy: 'Give the server a valid certificate for its name, or trust its issuer on this side.',
  },
  INTERNAL_ERROR: {
    summary: 'A fault in the program that uses the connection',
    remedy: 'Report it, with the log of the side that closed the connection.',
  },
  UNUSED: { summary: 'No stream part uses the link any more', remedy: 'Nothing to do: this is normal.' },
  SHUTTING_DOWN: { summary: 'Shutting down', remedy: 'Nothing to do: this side was asked to stop.' },
} as const satisfies ErrorTable

export type TransportErrorCode = keyof typeof transportErrors
export const transportError = errorFactory(transportErrors)
