import { addressOf, canDial, commonKinds, type Contact, type NodeId } from '@runnel/protocol'

/** One way to get a link, and this side's part in it. */
export interface Way {
  /** The kind of the transport. */
  readonly kind: string
  readonly role: 'dial' | 'wait'
  /** Where to dial; empty where this side waits, or signalling finds the peer. */
  readonly address: string
}

export interface PlanInput {
  readonly self: NodeId
  readonly contact: Contact
  /** This node's transports, by kind. */
  readonly transports: { has(kind: string): boolean }
  readonly peer: NodeId
  readonly peerContact: Contact
  /** The peer does not know that a link is wanted: this side must dial wherever it can. */
  readonly alone?: boolean
  /** This side's part in a link of this kind with the peer that is under way already. */
  roleIn?(kind: string): Way['role'] | undefined
}

/**
 * The ways to a peer, in the order of the transports of the lower id; empty when there is none. The peer, given the same two
 * contacts, finds the same ways with the roles exchanged. One side dials in all of them, so that it alone knows when a way has
 * failed and the next one's turn has come. In the first way that is who dials it already, else the lower id where it can dial, else the other; later
 * ways are those in which the same side can dial.
 */
export function planWays({
  self,
  contact,
  transports,
  peer,
  peerContact,
  alone = false,
  roleIn = () => undefined,
}: PlanInput): Way[] {
  const isLower = self < peer
  const kinds = isLower ? commonKinds(contact, peerContact) : commonKinds(peerContact, contact)
  let weDial = alone ? true : undefined
  const ways: Way[] = []
  for (const kind of kinds) {
    if (!transports.has(kind)) continue
    const canWe = canDial(contact, peerContact, kind)
    const canThey = canDial(peerContact, contact, kind)
    const role: Way['role'] | undefined = weDial === undefined ? roleIn(kind) : undefined
    weDial ??= role === undefined ? (isLower ? canWe : !canThey) : role === 'dial'
    if (weDial && canWe) ways.push({ kind, role: 'dial', address: addressOf(peerContact, kind) ?? '' })
    if (!weDial && canThey) ways.push({ kind, role: 'wait', address: '' })
  }
  return ways
}
