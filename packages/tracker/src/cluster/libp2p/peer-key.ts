import { secp256k1 } from '@noble/curves/secp256k1.js'
import { peerIdFromString } from '@libp2p/peer-id'
import type { PeerId } from '@libp2p/interface'
import { nodeIdFromBytes, type Crypto, type NodeId } from '@runnel/protocol'

/**
 * The node id of a libp2p peer: the Ethereum address of the secp256k1 key in its id, which the noise handshake proves.
 * Undefined for peers with another kind of key.
 */
export function nodeIdOfPeer(peerId: PeerId, crypto: Crypto): NodeId | undefined {
  if (peerId.type !== 'secp256k1') return undefined
  const point = secp256k1.Point.fromBytes(peerId.publicKey.raw).toBytes(false)
  return nodeIdFromBytes(crypto.keccak256(point.subarray(1)).subarray(12))
}

/** Like `nodeIdOfPeer`, for a peer id as text; undefined also when the text is invalid. */
export function nodeIdOfPeerText(text: string, crypto: Crypto): NodeId | undefined {
  try {
    return nodeIdOfPeer(peerIdFromString(text), crypto)
  } catch {
    return undefined
  }
}
