export * from './core.ts'
export * from './ws/web-socket-transport.ts'
export { shareSockets } from './ws/share-sockets.ts'
export { createPeerConnection } from './webrtc/node-peer-connection.ts'
