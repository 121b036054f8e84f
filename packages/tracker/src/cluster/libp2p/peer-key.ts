import { secp256k1 } from '@noble/curves/secp256k1.js'
import { peerIdFromString } from '@libp2p/peer-id'
import type { PeerId } from '@libp2p/interface'
import { nodeIdFromBytes, type Crypto, type NodeId } from '@runnel/protocol'

/**
 * The node id of a libp2p peer: the Ethereum address of the secp256k1 key that its id consists of, which the noise
 * handshake proves. Undefined for peers with another kind of key.
 */
export function nodeIdOfPeer(peerId: PeerId, crypto: Crypto): NodeId | undefined {
  if (peerId.type !== 'secp256k1') return undefined
  const point = secp256k1.Point.fromBytes(peerId.publicKey.raw).toBytes(false)
  return nodeIdFromBytes(crypto.keccak256(point.subarray(1)).subarray(12))
}

/** As `nodeIdOfPeer`, of a peer id in its usual spelling; undefined also when it is none. */
export function nodeIdOfPeerText(text: string, crypto: Crypto): NodeId | undefined {
  try {
    return nodeIdOfPeer(peerIdFromString(text), crypto)
  } catch {
    return undefined
  }
}
