import type { Contact } from '../messages/packets/overlay.ts'

/** The kind of an address at which a node carries circuits between others: no transport, so nobody dials it for a link. */
export const carrierKind = 'carrier'

/** Where a transport of this kind finds the node; undefined where it does not. */
export function addressOf(contact: Contact, kind: string): string | undefined {
  return contact.addresses.find((address) => address.kind === kind)?.text
}

/** Whether `from` dials this kind of transport, and `to` has an address of it. */
export function canDial(from: Contact, to: Contact, kind: string): boolean {
  return from.dials.includes(kind) && addressOf(to, kind) !== undefined
}

/**
 * The kinds of transport by which one of two nodes can dial the other, in the order in which they are tried: as the first says,
 * then what only the second dials. Both nodes come to the same order when they agree on who is the first.
 */
export function commonKinds(first: Contact, second: Contact): string[] {
  const kinds = [...new Set([...first.dials, ...second.dials])]
  return kinds.filter((kind) => canDial(first, second, kind) || canDial(second, first, kind))
}

/** Whether one of two nodes can dial the other. */
export function canConnect(a: Contact, b: Contact): boolean {
  return dialsAny(a, b) || dialsAny(b, a)
}

export function sameContact(a: Contact, b: Contact): boolean {
  return (
    a.addresses.length === b.addresses.length &&
    a.dials.length === b.dials.length &&
    a.dials.every((kind, index) => kind === b.dials[index]) &&
    a.addresses.every(({ kind, text }, index) => {
      const other = b.addresses[index]
      return kind === other?.kind && text === other.text
    })
  )
}

function dialsAny(from: Contact, to: Contact): boolean {
  return to.addresses.some(({ kind }) => from.dials.includes(kind))
}
