import {
  decodePacket,
  encodePacket,
  handshakeDigest,
  nodeIdToBytes,
  PacketType,
  PROTOCOL_VERSION,
  type Hello,
  type LinkRole,
  type NodeId,
} from '@runnel/protocol'
import { transportError } from '../errors.ts'
import type { ConnectionModules } from './modules.ts'

export interface HandshakeOptions {
  /** As what this side acts. */
  readonly role: LinkRole
  /** Who must be at the other end; anyone when absent. */
  readonly expectedPeerId?: NodeId
  /** See Channel. */
  readonly binding: Uint8Array
}

/** Who is at the other end, proven. */
export interface Peer {
  readonly nodeId: NodeId
  readonly role: LinkRole
}

type HandshakeModules = Pick<ConnectionModules, 'random' | 'crypto' | 'identity' | 'agent'>

/**
 * Both sides of a new channel send a hello with a nonce, and then a signature over both ids, both nonces, the prover's role
 * and the channel. A signature is good for one verifier and one pair of nonces, so it proves nothing to anybody else and
 * cannot be used twice. docs/protocol.md, handshake.
 */
export class Handshake {
  readonly #options: HandshakeOptions
  readonly #modules: HandshakeModules
  readonly #nonce: Uint8Array
  #peerHello: Hello | undefined

  constructor(options: HandshakeOptions, modules: HandshakeModules) {
    this.#options = options
    this.#modules = modules
    this.#nonce = modules.random.bytes(32)
  }

  /** Our hello, as a packet. */
  hello(): Uint8Array {
    return encodePacket({
      type: 'hello',
      version: PROTOCOL_VERSION,
      role: this.#options.role,
      nodeId: this.#modules.identity.nodeId,
      nonce: this.#nonce,
      agent: this.#modules.agent ?? '',
    })
  }

  /** Takes the other's hello and returns our proof, as a packet. Throws PEER_ID_MISMATCH, HANDSHAKE_FAILED, and what decoding throws. */
  receiveHello(body: Uint8Array): Uint8Array {
    const hello = decodePacket(PacketType.hello, body) as Hello
    const { expectedPeerId, role, binding } = this.#options
    const { identity, crypto } = this.#modules
    if (hello.nodeId === identity.nodeId)
      throw transportError('HANDSHAKE_FAILED', 'the other side claims our own id')
    if (expectedPeerId !== undefined && hello.nodeId !== expectedPeerId) {
      throw transportError('PEER_ID_MISMATCH', `expected ${expectedPeerId}, found ${hello.nodeId}`)
    }
    this.#peerHello = { ...hello, nonce: hello.nonce.slice() }
    const digest = handshakeDigest(
      {
        prover: identity.nodeId,
        verifier: hello.nodeId,
        proverNonce: this.#nonce,
        verifierNonce: hello.nonce,
        role,
        binding,
      },
      crypto,
    )
    return encodePacket({ type: 'proof', signature: identity.sign(digest) })
  }

  /** Takes the other's proof. Throws HANDSHAKE_FAILED when it proves nothing, and what decoding throws. */
  receiveProof(body: Uint8Array): Peer {
    const hello = this.#peerHello
    const proof = decodePacket(PacketType.proof, body)
    if (hello === undefined || proof.type !== 'proof')
      throw transportError('HANDSHAKE_FAILED', 'a proof before a hello')
    const { identity, crypto } = this.#modules
    const digest = handshakeDigest(
      {
        prover: hello.nodeId,
        verifier: identity.nodeId,
        proverNonce: hello.nonce,
        verifierNonce: this.#nonce,
        role: hello.role,
        binding: this.#options.binding,
      },
      crypto,
    )
    if (!equalBytes(crypto.recover(digest, proof.signature), nodeIdToBytes(hello.nodeId))) {
      throw transportError('HANDSHAKE_FAILED', `the signature is not ${hello.nodeId}'s`)
    }
    return { nodeId: hello.nodeId, role: hello.role }
  }
}

function equalBytes(a: Uint8Array | undefined, b: Uint8Array): boolean {
  return a !== undefined && a.length === b.length && a.every((byte, i) => byte === b[i])
}
