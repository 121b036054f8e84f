export * from './core.ts'
export * from './ws/web-socket-transport.ts'
export { createPeerConnection } from './webrtc/node-peer-connection.ts'
