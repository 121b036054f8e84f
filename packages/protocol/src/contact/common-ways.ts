import type { Contact } from '../messages/packets.ts'

/** How two nodes can get a link, by what both say of themselves. */
export interface CommonWays {
  /** The first has what it takes to dial a WebSocket, and the second a URL to dial. */
  readonly firstDials: boolean
  readonly secondDials: boolean
  /** Both have WebRTC; who offers is theirs to settle. */
  readonly webrtc: boolean
}

export function commonWays(first: Contact, second: Contact): CommonWays {
  return {
    firstDials: canDial(first, second),
    secondDials: canDial(second, first),
    webrtc: first.webrtc && second.webrtc,
  }
}

/** Whether two nodes have a transport in common. */
export function canConnect(a: Contact, b: Contact): boolean {
  const { firstDials, secondDials, webrtc } = commonWays(a, b)
  return firstDials || secondDials || webrtc
}

export function sameContact(a: Contact, b: Contact): boolean {
  return a.websocketUrl === b.websocketUrl && a.websocket === b.websocket && a.webrtc === b.webrtc
}

function canDial(from: Contact, to: Contact): boolean {
  return from.websocket && to.websocketUrl !== ''
}
