import { protocolError } from '../errors.ts'
import { nodeIdFromBytes, type NodeId } from '../ids/node-id.ts'
import type { Crypto, Random } from '../ports.ts'

/** Someone who can sign as a node id. */
export interface Identity {
  readonly nodeId: NodeId
  /** Signs a 32-byte digest: 65 bytes, r ‖ s ‖ v. */
  sign(digest: Uint8Array): Uint8Array
}

/** An identity with its key in memory. The key stays in the closure: nothing that prints the identity can show it. Throws INVALID_KEY. */
export function createIdentity(privateKey: Uint8Array, crypto: Crypto): Identity {
  const key = privateKey.slice()
  return {
    nodeId: nodeIdFromBytes(crypto.addressOf(key)),
    sign: (digest) => crypto.sign(digest, key),
  }
}

/** A new private key: 32 random bytes between 0 and the order of the curve. */
export function generatePrivateKey(random: Random): Uint8Array {
  for (;;) {
    const key = random.bytes(32)
    if (isPrivateKey(key)) return key
  }
}

/** The private key of 64 hexadecimal digits, with or without 0x. Throws INVALID_KEY, without quoting them. */
export function parsePrivateKey(hex: string): Uint8Array {
  const digits = hex.startsWith('0x') ? hex.slice(2) : hex
  if (!/^[0-9a-fA-F]{64}$/.test(digits)) throw protocolError('INVALID_KEY')
  const key = Uint8Array.from({ length: 32 }, (_, i) => Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16))
  if (!isPrivateKey(key)) throw protocolError('INVALID_KEY')
  return key
}

/** The order of secp256k1 (SEC 2, section 2.4.1). */
const order = 0xffffffff_ffffffff_ffffffff_fffffffe_baaedce6_af48a03b_bfd25e8c_d0364141n

function isPrivateKey(key: Uint8Array): boolean {
  let value = 0n
  for (const byte of key) value = (value << 8n) | BigInt(byte)
  return value > 0n && value < order
}
