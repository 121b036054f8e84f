import type { Crypto } from '../ports.ts'

/** Domain separation as in RFC 6962, section 2.1: no inner node can pass for a leaf. */
export const leafTag = 0x00
const nodeTag = 0x01

/**
 * The root of a Merkle tree of the shape of RFC 6962, section 2.1, over at least one leaf hash. There the left subtree
 * is the largest full one; pairing level by level and lifting an odd last node as it is gives the same tree.
 */
export function merkleRoot(leaves: readonly Uint8Array[], crypto: Crypto): Uint8Array {
  const pair = new Uint8Array(65)
  pair[0] = nodeTag
  let level = leaves
  while (level.length > 1) {
    const above: Uint8Array[] = []
    for (let i = 0; i + 1 < level.length; i += 2) {
      pair.set(level[i] as Uint8Array, 1)
      pair.set(level[i + 1] as Uint8Array, 33)
      above.push(crypto.keccak256(pair))
    }
    if (level.length % 2 === 1) above.push(level[level.length - 1] as Uint8Array)
    level = above
  }
  return level[0] as Uint8Array
}
