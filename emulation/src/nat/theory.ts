import { natBehaviours, type NatKind } from './nat-kinds.ts'

/** How a pair of nodes should come to be linked. */
export type Outcome = 'direct' | 'relayed' | 'websocket' | 'circuit' | 'none'

/** The servers both nodes have in addition to their own addresses. */
export interface Helpers {
  /** A STUN server. */
  readonly stun: boolean
  /** A TURN server, reached by UDP, TCP or TLS. */
  readonly turn?: 'udp' | 'tcp' | 'tls'
  /** A node that carries circuits. */
  readonly carrier: boolean
}

/**
 * Whether two hosts that know each other's addresses as a STUN server sees them, and check each towards the other, find a
 * path without a relay. Written down as a table, by RFC 5128 (sections 3.3 and 4.2: hole punching needs mappings that do not
 * depend on the endpoint) and the behaviours of RFC 4787; RFC 8445, section 7.3.1.3, adds the addresses that a check itself reveals:
 *
 * - Behind a symmetric NAT the peer gets another port than the STUN server saw. Its check still arrives where the
 *   filter looks at no port (public, full cone, address-restricted), and shows the port (peer-reflexive).
 * - Where the filter does look at the port, that check is dropped; what goes the other way goes to the wrong port.
 *   So port-restricted with symmetric, and symmetric with symmetric, cannot work.
 */
const directPairs: readonly (readonly [NatKind, NatKind])[] = [
  ['public', 'public'],
  ['public', 'full-cone'],
  ['public', 'address-restricted'],
  ['public', 'port-restricted'],
  ['public', 'symmetric'],
  ['full-cone', 'full-cone'],
  ['full-cone', 'address-restricted'],
  ['full-cone', 'port-restricted'],
  ['full-cone', 'symmetric'],
  ['address-restricted', 'address-restricted'],
  ['address-restricted', 'port-restricted'],
  ['address-restricted', 'symmetric'],
  ['port-restricted', 'port-restricted'],
]

/** What theory says of two hosts, each in a place of its own. What blocks UDP lets TCP out. */
export function theoryOf(a: NatKind, b: NatKind, { stun, turn, carrier }: Helpers): Outcome {
  const isPair = ([one, other]: readonly [NatKind, NatKind]) =>
    (one === a && other === b) || (one === b && other === a)
  const canPunch = stun || [a, b].includes('public')
  if (canPunch && directPairs.some(isPair)) return 'direct'
  const canRelay = turn === 'udp' ? ![a, b].includes('udp-blocked') : turn !== undefined
  if (canRelay) return 'relayed'
  return carrier ? 'circuit' : 'none'
}

/**
 * The same by rule instead of by table, for a test of the table: some check of one must pass the filter of the other. A host
 * sends to the address that the STUN server saw of the other, which is the right one unless the other's mapping depends on the
 * destination.
 */
export function canConnectDirectly(a: NatKind, b: NatKind): boolean {
  return checkArrives(a, b) || checkArrives(b, a)
}

function checkArrives(from: NatKind, to: NatKind): boolean {
  const [sender, receiver] = [natBehaviours[from], natBehaviours[to]]
  if (sender.mapping === 'blocked' || receiver.mapping === 'blocked') return false
  const dependsOn = receiver.filtering
  // It goes to the port of the other that the STUN server saw. Where that is for the STUN server only, nothing else gets in.
  if (receiver.mapping === 'address-and-port-dependent') return false
  if (dependsOn === 'none' || dependsOn === 'endpoint-independent') return true
  // The other has sent to our address by now, at the port that the STUN server saw.
  if (dependsOn === 'address-dependent') return true
  return sender.mapping !== 'address-and-port-dependent'
}
