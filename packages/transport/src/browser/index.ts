/** `@runnel/transport` outside Node: the same links over the browser's WebSocket and RTCPeerConnection. */
export * from '../core.ts'
export * from './create-transports.ts'
export * from './web-socket-transport.ts'
export { createPeerConnection } from './peer-connection.ts'
