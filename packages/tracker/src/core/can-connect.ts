import type { Contact } from '@runnel/protocol'

/** Whether two nodes have a transport in common: one has a WebSocket URL the other can dial, or both have WebRTC. */
export function canConnect(a: Contact, b: Contact): boolean {
  return (a.webrtc && b.webrtc) || canDial(a, b) || canDial(b, a)
}

function canDial(from: Contact, to: Contact): boolean {
  return from.websocket && to.websocketUrl !== ''
}

export function sameContact(a: Contact, b: Contact): boolean {
  return a.websocketUrl === b.websocketUrl && a.websocket === b.websocket && a.webrtc === b.webrtc
}
