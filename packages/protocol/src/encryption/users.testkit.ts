import { nodeCiphers as ciphers } from '../ciphers/node-ciphers.ts'
import { createIdentity, type Identity } from '../crypto/identity.ts'
import { nodeIdToBytes, type NodeId } from '../ids/node-id.ts'
import type { Crypto } from '../ports.ts'
import { typedDataDigest, typedDataOf, type TypedData } from '../signing/typed-data.ts'
import { cardHash, signCard, type Card } from './card.ts'
import { deriveKey } from './derive-key.ts'
import { xwingPublicKey } from './hpke.testkit.ts'

const chainId = 31_337
/** When cards are signed. */
export const dateMs = 1_750_000_000_000
/** Stands for 32 bytes that would be drawn at random. */
export const drawn = (byte: number): Uint8Array => new Uint8Array(32).fill(byte)

/** A user with its reading key and card. */
export interface User {
  readonly name: string
  readonly privateKey: Uint8Array
  readonly identity: Identity
  readonly generation: number
  /** What it is signed to have a reading key, and what the key comes from: r ‖ s of the signature, or the private key. */
  readonly typedData: TypedData
  readonly material: Uint8Array
  readonly readingKey: Uint8Array
  readonly cardPrivateKey: Uint8Array
  readonly card: Card
  readonly cardHash: Uint8Array
}

function readingKeyTypedData(userId: NodeId, generation: number) {
  const fields = ['purpose', 'warning', 'account', 'generation'].map((name) => ({
    name,
    type: name === 'account' ? ('address' as const) : ('string' as const),
  }))
  return typedDataOf({ primaryType: 'ReadingKey', fields }, chainId, {
    purpose:
      'Show this page or program what is encrypted for this account on the Runnel network. It moves no money.',
    warning:
      'Whoever gets this signature can read everything that is encrypted for this account. Sign only where you trust the page or program.',
    account: userId,
    generation: String(generation),
  })
}

export function userOf(
  crypto: Crypto,
  name: string,
  key: number,
  generation: number,
  isFromKey = false,
): User {
  const privateKey = drawn(key)
  const identity = createIdentity(privateKey, crypto)
  const userId = identity.nodeId
  const typedData = readingKeyTypedData(userId, generation)
  const signed = identity.sign(typedDataDigest(typedData, crypto))
  const material = isFromKey ? privateKey : signed.subarray(0, 64)
  const counted = new Uint8Array(4)
  new DataView(counted.buffer).setUint32(0, generation)
  const readingKey = deriveKey(ciphers, material, 'reading key', nodeIdToBytes(userId), counted)
  const cardPrivateKey = deriveKey(ciphers, readingKey, 'card')
  const publicKey = xwingPublicKey(cardPrivateKey)
  const claim = { chainId, userId, generation, dateMs, block: 0, publicKey }
  const card = signCard(claim, crypto, identity)
  const hash = cardHash(card, crypto)
  return {
    ...{ name, privateKey, identity, generation, typedData, material, readingKey, cardPrivateKey },
    ...{ card, cardHash: hash },
  }
}
