import { readNodeId, writeNodeId } from '../codec/fields.ts'
import { toHex } from '../codec/hex.ts'
import { Reader } from '../codec/reader.ts'
import { Writer } from '../codec/writer.ts'
import type { Identity } from '../crypto/identity.ts'
import { protocolError, type ProtocolErrorCode, type RunnelError } from '../errors.ts'
import { nodeIdFromBytes, type NodeId } from '../ids/node-id.ts'
import { limits } from '../limits.ts'
import type { Crypto } from '../ports.ts'
import { signedAt, typedDataDigest, typedDataOf, type TypedData } from '../signing/typed-data.ts'

/** With which public key others encrypt for a user. */
export interface CardClaim {
  /** Of the chain that the network's registries are on; 0 where they are on none. */
  readonly chainId: number
  /** Whose key it is. */
  readonly userId: NodeId
  /** Of the user's reading key, from 0, below 2^32: a user that changes its key counts on. */
  readonly generation: number
  /** When the user signed, in Unix milliseconds. */
  readonly dateMs: number
  /** For a user that is a contract: the block at which it agrees to the signature. Else 0. */
  readonly block: number
  /** Of X-Wing (ML-KEM-768 and X25519), 1,216 bytes. */
  readonly publicKey: Uint8Array
}

/** A claim and its user's signature. */
export interface Card extends CardClaim {
  /** Of the user's key, 65 bytes; or what a contract takes for its signature (ERC-1271). */
  readonly signature: Uint8Array
}

/** Of a public key of X-Wing (draft-connolly-cfrg-xwing-kem, section "Encoding and sizes"). */
export const cardPublicKeyBytes = 1216

/** How far ahead of one's own clock a card may be signed: clocks differ. */
export const cardToleranceMs = 5 * 60_000

const cardVersion = 1

export function writeCard(writer: Writer, card: Card): void {
  writeClaim(writer, card)
  const { signature } = card
  writer.count(signature.length, limits.maxCardSignatureBytes, 'bytes of a card signature')
  writer.raw(signature)
}

function writeClaim(writer: Writer, claim: CardClaim): void {
  writer.u8(cardVersion)
  writer.varint(claim.chainId)
  writeNodeId(writer, claim.userId)
  writer.u32(claim.generation)
  writer.u48(claim.dateMs)
  writer.varint(claim.block)
  writer.fixed(claim.publicKey, cardPublicKeyBytes, 'public key of a card')
}

/** What it holds of bytes is a copy. Throws MALFORMED_PACKET, LIMIT_EXCEEDED or UNSUPPORTED_VERSION. */
export function readCard(reader: Reader): Card {
  const version = reader.u8()
  if (version !== cardVersion) throw protocolError('UNSUPPORTED_VERSION', `card version ${version}`)
  return {
    chainId: reader.varint(),
    userId: readNodeId(reader),
    generation: reader.u32(),
    dateMs: reader.u48(),
    block: reader.varint(),
    publicKey: reader.view(cardPublicKeyBytes).slice(),
    signature: reader.view(reader.count(limits.maxCardSignatureBytes, 'bytes of a card signature')).slice(),
  }
}

/** The bytes of a card. Throws MALFORMED_PACKET or LIMIT_EXCEEDED for one that has none. */
export function encodeCard(card: Card): Uint8Array {
  const writer = new Writer()
  writeCard(writer, card)
  return writer.view().slice()
}

/** Throws MALFORMED_PACKET, LIMIT_EXCEEDED or UNSUPPORTED_VERSION. */
export function decodeCard(bytes: Uint8Array): Card {
  const reader = new Reader(bytes)
  const card = readCard(reader)
  reader.end()
  return card
}

const cardKind = {
  primaryType: 'Card',
  fields: [
    { name: 'purpose', type: 'string' },
    { name: 'account', type: 'address' },
    { name: 'generation', type: 'string' },
    { name: 'date', type: 'string' },
    { name: 'key', type: 'string' },
  ],
} as const

/** What the user signs; made from the claim in one way only. The key is given by its keccak-256. */
export function cardTypedData(claim: CardClaim, crypto: Crypto): TypedData {
  return typedDataOf(cardKind, claim.chainId, {
    purpose: 'Let others encrypt for this account on the Runnel network. It moves no money.',
    account: claim.userId,
    generation: String(claim.generation),
    date: signedAt(claim.dateMs, claim.block),
    key: toHex(crypto.keccak256(claim.publicKey)),
  })
}

/** The 32 bytes that the user signs. */
export function cardDigest(claim: CardClaim, crypto: Crypto): Uint8Array {
  return typedDataDigest(cardTypedData(claim, crypto), crypto)
}

/** Signs a claim as its user, which the identity must be. */
export function signCard(claim: CardClaim, crypto: Crypto, identity: Pick<Identity, 'sign'>): Card {
  return { ...claim, signature: identity.sign(cardDigest(claim, crypto)) }
}

/** True when the user's own key signed it. False says nothing where the user is a contract. Never throws. */
export function isCardSignedByKey(card: Card, crypto: Crypto): boolean {
  if (card.signature.length !== 65) return false
  const address = crypto.recover(cardDigest(card, crypto), card.signature, card.userId)
  return address !== undefined && nodeIdFromBytes(address) === card.userId
}

/** The keccak-256 of a card's bytes without its signature: two cards that say the same have the same hash. */
export function cardHash(claim: CardClaim, crypto: Crypto): Uint8Array {
  const writer = new Writer()
  writeClaim(writer, claim)
  return crypto.keccak256(writer.view())
}

/**
 * What is wrong with a card now: CARD_OTHER_CHAIN or CARD_NOT_YET, as a date in the future would outlast the cards that its user signs
 * later; undefined when nothing. `chainId` undefined: any chain will do. Nothing is said of signatures.
 */
export function cardProblem(
  { chainId: ofChainId, dateMs }: CardClaim,
  { chainId, wallMs }: { readonly chainId: number | undefined; readonly wallMs: number },
): RunnelError<ProtocolErrorCode> | undefined {
  if (chainId !== undefined && ofChainId !== chainId)
    return protocolError('CARD_OTHER_CHAIN', `it is for chain ${ofChainId}, this is ${chainId}`)
  return dateMs > wallMs + cardToleranceMs
    ? protocolError('CARD_NOT_YET', `it was signed ${new Date(dateMs).toISOString()}`)
    : undefined
}

/**
 * Which of two cards of one user counts: that of the higher generation, then the newer one, and of two with one date that with the larger
 * key, so that all agree. The first when both say the same.
 */
export function newerCard<C extends CardClaim>(a: C, b: C): C {
  const order = a.generation - b.generation || a.dateMs - b.dateMs || compareBytes(a.publicKey, b.publicKey)
  return order >= 0 ? a : b
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const at = a.findIndex((byte, i) => byte !== b[i])
  return at < 0 ? 0 : (a[at] as number) - (b[at] ?? 0)
}
