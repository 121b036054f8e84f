import { commonWays, type Contact, type NodeId } from '@runnel/protocol'
import type { TransportKind } from '../ports.ts'

/** One way to get a link, and what this side does about it. */
export interface Way {
  readonly transport: TransportKind
  readonly role: 'dial' | 'wait'
  /** Where to dial; empty except for a WebSocket we dial. */
  readonly url: string
}

export interface PlanInput {
  readonly self: NodeId
  readonly contact: Contact
  /** What this node has. */
  readonly transports: ReadonlySet<TransportKind>
  readonly peer: NodeId
  readonly peerContact: Contact
  /** The peer does not know that a link is wanted: this side must dial wherever it can. */
  readonly alone?: boolean
}

/**
 * The ways to a peer, cheapest first; none when there are none. The peer, given the same two contacts, finds the same ways with the
 * roles exchanged. One side dials in all of them, so that it alone knows when a way has failed and the next one's turn has come.
 */
export function planWays({ self, contact, transports, peer, peerContact, alone }: PlanInput): Way[] {
  const isLower = self < peer || alone === true
  if (transports.has('memory')) return [way('memory', isLower)]
  const common = commonWays(contact, peerContact)
  const weDial = transports.has('websocket') && common.firstDials
  const theyDial = transports.has('websocket') && common.secondDials
  const webrtc = transports.has('webrtc') && common.webrtc
  if (alone === true) return aloneWays(weDial, webrtc, peerContact.websocketUrl)
  const dials = weDial === theyDial ? isLower : weDial
  const ways: Way[] = []
  if (weDial || theyDial) ways.push(way('websocket', dials, peerContact.websocketUrl))
  if (webrtc) ways.push(way('webrtc', dials))
  return ways
}

function aloneWays(websocket: boolean, webrtc: boolean, url: string): Way[] {
  return [...(websocket ? [way('websocket', true, url)] : []), ...(webrtc ? [way('webrtc', true)] : [])]
}

function way(transport: TransportKind, dials: boolean, url = ''): Way {
  return dials ? { transport, role: 'dial', url } : { transport, role: 'wait', url: '' }
}
