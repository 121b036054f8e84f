import { errorFactory, type ErrorTable } from '@runnel/protocol'

/** Error and close codes of `@runnel/transport`. */
export const transportErrors = {
  DIAL_FAILED: {
    summary: 'Could not connect',
    remedy: 'Check that the other side runs and that its address is right and reachable.',
  },
  DIAL_TIMEOUT: {
    summary: 'No connection within the time limit',
    remedy: 'Check the network between the two, firewalls, and for WebRTC the STUN and TURN servers.',
  },
  NO_COMMON_TRANSPORT: {
    summary: 'The two peers have no common transport',
    remedy: 'Allow WebRTC on both, or give one of them a reachable WebSocket URL.',
  },
  NO_SIGNALLING: {
    summary: 'No tracker carries signalling to this peer',
    remedy: 'Check the connection to the tracker.',
  },
  NO_WEBRTC: {
    summary: 'The browser has no WebRTC, or forbids it',
    remedy:
      'Allow WebRTC, or use another browser; with transports: { webrtc: false } only nodes with a WebSocket URL can be neighbours.',
  },
  WEBRTC_MISSING: {
    summary: 'WebRTC is not installed for this platform',
    remedy:
      'Remove node_modules and run npm install on this machine, without --omit=optional; or do without WebRTC, with transports: { webrtc: false }. What there is for which platform: docs/installing.md.',
  },
  NO_WEBSOCKET: {
    summary: 'The browser has no WebSocket',
    remedy: 'Use another browser: trackers are reached over WebSockets only.',
  },
  OFFLINE: {
    summary: 'The browser has no network',
    remedy: 'Connect it to a network; the node then reconnects.',
  },
  NO_CIRCUIT: {
    summary: 'The node that carries circuits has no way to the peer',
    remedy: 'The peer went away, or moved to another carrier; its tracker tells where it is next.',
  },
  INVALID_ICE_SERVER: {
    summary: 'Not an ICE server',
    remedy: 'Write stun:host:port, or turn:host:port with a user name and a credential.',
  },
  PEER_ID_MISMATCH: {
    summary: 'Another node answered',
    remedy:
      'The address belongs to another node than expected; correct it where it is configured or registered.',
  },
  HANDSHAKE_FAILED: {
    summary: 'The other side did not prove its id',
    remedy: 'It is broken, hostile, or speaks another protocol.',
  },
  CAPABILITY_MISSING: {
    summary: 'One side requires what the other cannot do',
    remedy: 'Update the software of the side that lacks it, or turn off on the other what requires it.',
  },
  NOT_AUTHENTIC: {
    summary: 'A frame is not the one the other side sent next',
    remedy:
      'Something on the path changes the traffic, or one side is broken; the link is opened again if it is still wanted.',
  },
  HANDSHAKE_TIMEOUT: {
    summary: 'The other side did not finish the handshake in time',
    remedy: 'It is overloaded or hostile; nothing to do here.',
  },
  PROTOCOL_VIOLATION: {
    summary: 'The other side broke the protocol',
    remedy: 'It is broken or hostile; the connection was closed.',
  },
  FRAME_TOO_LARGE: {
    summary: 'A frame or packet above the limit',
    remedy: 'Send less at once: docs/limits.md.',
  },
  PEER_DEAD: {
    summary: 'The other side no longer answers',
    remedy: 'It crashed or lost its network; the overlay replaces it.',
  },
  SLOW_PEER: {
    summary: 'The other side takes no data',
    remedy: 'It is overloaded or its network too slow for the stream.',
  },
  TOO_MANY_CONNECTIONS: {
    summary: 'The connection limit is reached',
    remedy: 'Raise the limit in the configuration, or run another process.',
  },
  DUPLICATE_CONNECTION: {
    summary: 'There is another connection to the same peer',
    remedy: 'Nothing: the other one is used.',
  },
  PORT_IN_USE: {
    summary: 'The port is taken',
    remedy:
      'Choose another port (tracker: --port; node: --websocket-port, --http-port, --http-gateway-port, --mqtt-port; up: --tracker-port), or stop the process that has it.',
  },
  LISTEN_FAILED: {
    summary: 'Could not listen',
    remedy: 'Check the host and port in the configuration, and permissions.',
  },
  CONNECTION_LOST: {
    summary: 'The connection broke',
    remedy: 'Nothing: it is opened again if it is still wanted.',
  },
  TLS_FAILED: {
    summary: 'The certificate of the other side was not accepted',
    remedy: 'Give the server a valid certificate for its name, or trust its issuer on this side.',
  },
  INTERNAL_ERROR: {
    summary: 'A fault in the program that uses the connection',
    remedy: 'Report it with the log of the side that closed.',
  },
  UNUSED: { summary: 'No stream part uses the link any more', remedy: 'Nothing: this is normal.' },
  SHUTTING_DOWN: { summary: 'Shutting down', remedy: 'Nothing: this side was asked to stop.' },
} as const satisfies ErrorTable

export type TransportErrorCode = keyof typeof transportErrors
export const transportError = errorFactory(transportErrors)
