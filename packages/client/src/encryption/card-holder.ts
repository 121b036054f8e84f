import {
  cardHash,
  groupOf,
  readerTag,
  toHex,
  type Card,
  type Ciphers,
  type Crypto,
  type NodeId,
} from '@runnel/protocol'

/** Somebody with a card. */
export interface CardHolder {
  readonly userId: NodeId
  readonly cardHash: Uint8Array
}

/** To whom something is sealed. */
export interface Recipient extends CardHolder {
  /** Of its card. */
  readonly publicKey: Uint8Array
}

interface Group {
  readonly count: number
  readonly index: number
}

// Hashes of thousands of readers, who are mostly the same when one of them goes.
const recipients = new WeakMap<Card, Recipient>()
const tags = new WeakMap<CardHolder, string>()
const groups = new WeakMap<CardHolder, Group>()

/** The holder of a card: the same object each time. */
export function recipientOf(card: Card, crypto: Crypto): Recipient {
  const known = recipients.get(card)
  if (known !== undefined) return known
  const recipient = { userId: card.userId, publicKey: card.publicKey, cardHash: cardHash(card, crypto) }
  recipients.set(card, recipient)
  return recipient
}

/** The tag of a holder, as text. Remembered. */
export function tagTextOf(holder: CardHolder, ciphers: Ciphers): string {
  const known = tags.get(holder)
  if (known !== undefined) return known
  const tag = toHex(readerTag(ciphers, holder.userId, holder.cardHash))
  tags.set(holder, tag)
  return tag
}

/** In which of so many groups a holder is. Remembered for the last count. */
export function groupOfHolder(holder: CardHolder, count: number, ciphers: Ciphers): number {
  const known = groups.get(holder)
  if (known?.count === count) return known.index
  const index = groupOf(ciphers, holder.userId, count)
  groups.set(holder, { count, index })
  return index
}
