import type { Contact } from '@runnel/protocol'
import type { Transport } from '../ports.ts'

/** How others reach a node with these transports, cheapest first. */
export function contactOf(transports: readonly Transport[]): Contact {
  return {
    addresses: transports.flatMap(({ kind, addresses, offers = [] }) => [
      ...addresses.map((text) => ({ kind, text })),
      ...offers,
    ]),
    dials: transports.map(({ kind }) => kind),
  }
}
