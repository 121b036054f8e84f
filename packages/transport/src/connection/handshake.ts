import {
  actsForCapability,
  decodePacket,
  encodePacket,
  handshakeDigest,
  handshakeTranscript,
  joined,
  nodeIdToBytes,
  PacketType,
  protocolVersions,
  readPackets,
  type ActingFor,
  type Capability,
  type Credential,
  type Hello,
  type Hellos,
  type LinkRole,
  type LinkSide,
  type NodeId,
} from '@runnel/protocol'
import { transportError } from '../errors.ts'
import type { Session } from '../noise/noise-nn.ts'
import type { Channel } from './channel.ts'
import { KeyAgreement } from './key-agreement.ts'
import { checkedCredential, credentialPacket, showsCredential } from './credentials.ts'
import type { ConnectionModules } from './modules.ts'

export interface HandshakeOptions {
  readonly channel: Pick<Channel, 'binding' | 'noise'>
  /** Which side opened the channel: this side is the dialler of an outbound one. */
  readonly direction: 'outbound' | 'inbound'
  /** The role this side acts in. */
  readonly role: LinkRole
  /** Who must be at the other end; anyone when absent. */
  readonly expectedPeerId?: NodeId | undefined
  /** Of a dialler: the `host:port` it dialled, where there is such an address. */
  readonly address?: string
  /** Of a listener: whether this address is one of its own. Default: every address is. */
  readonly isOwnAddress?: ((address: string) => boolean) | undefined
}

/** Who is at the other end, proven. */
export interface Peer {
  readonly nodeId: NodeId
  readonly role: LinkRole
  /** Of both sides. */
  readonly capabilities: ReadonlySet<string>
  /** Its credential comes behind its proof. */
  readonly showsCredential: boolean
  /** For whom it acts, when it has shown that. */
  readonly actingFor?: ActingFor | undefined
}

type HandshakeModules = Pick<
  ConnectionModules,
  | 'random'
  | 'crypto'
  | 'credentialCrypto'
  | 'clock'
  | 'identity'
  | 'agent'
  | 'versions'
  | 'capabilities'
  | 'acting'
>

/**
 * Each side of a new channel sends a hello, and then a signature over both hellos, which side it is, and the channel: that is,
 * over ids, roles, keys or nonces, and the address that was dialled. A signature is good for one verifier and one pair of
 * hellos, so it proves nothing to anybody else and cannot be replayed. Where nothing binds the channel to its ends, they agree
 * on keys with what is in the hellos, and the proofs and everything after them are sealed. docs/protocol.md, handshake.
 */
export class Handshake {
  readonly #options: HandshakeOptions
  readonly #modules: HandshakeModules
  readonly #keys: KeyAgreement | undefined
  readonly #hello: Hello
  readonly #credential: Credential | undefined
  #peer: Peer | undefined
  #hellos: Hellos | undefined

  constructor(options: HandshakeOptions, modules: HandshakeModules) {
    this.#options = options
    this.#modules = modules
    const { noise } = options.channel
    const secretKey = modules.random.bytes(32)
    this.#credential = modules.acting?.credential()
    const { capabilities = [] } = modules
    this.#keys = noise && new KeyAgreement({ side: this.#side, secretKey }, noise)
    this.#hello = {
      type: 'hello',
      versions: modules.versions ?? protocolVersions,
      role: options.role,
      nodeId: modules.identity.nodeId,
      nonce: this.#keys?.publicKey ?? secretKey,
      sealing: (this.#side === 'dialler' && noise?.ciphers[0]) || 'none',
      address: options.address ?? '',
      agent: modules.agent ?? '',
      capabilities: this.#credential === undefined ? capabilities : [...capabilities, showsCredential],
    }
  }

  get direction(): HandshakeOptions['direction'] {
    return this.#options.direction
  }

  /** Our hello, as a packet: the same each time. */
  hello(): Uint8Array {
    return encodePacket(this.#hello)
  }

  /** The keys, once both have agreed on them; always undefined on a channel that is not sealed. */
  get session(): Session | undefined {
    return this.#keys?.session
  }

  /**
   * Takes the other's hello and returns the frame to send then: our proof, or nothing for a dialler that awaits keys. Throws
   * PEER_ID_MISMATCH, HANDSHAKE_FAILED, CAPABILITY_MISSING, and what decoding throws.
   */
  receiveHello(body: Uint8Array): Uint8Array | undefined {
    const hello = decodePacket(PacketType.hello, body) as Hello
    this.#check(hello)
    const capabilities = commonCapabilities(this.#hello.capabilities, hello.capabilities)
    const shows = hello.capabilities.some(({ name }) => name === actsForCapability)
    this.#peer = { nodeId: hello.nodeId, role: hello.role, capabilities, showsCredential: shows }
    const [own, others] = [bodyOf(this.hello()), body.slice()]
    const isDialler = this.#side === 'dialler'
    this.#hellos = isDialler ? { dialler: own, listener: others } : { dialler: others, listener: own }
    if (this.#keys === undefined) return this.proof()
    const { sealing } = isDialler ? this.#hello : hello
    this.#keys.begin({ sealing, prologue: handshakeTranscript(this.#hellos), peerKey: hello.nonce.slice() })
    return isDialler ? undefined : this.#keys.answer(this.proof())
  }

  /** Opens a frame that came after the hello; undefined when it is not authentic. */
  open(frame: Uint8Array): Uint8Array | undefined {
    return this.#keys === undefined ? frame : this.#keys.open(frame)
  }

  /** Our proof, as a packet, and our credential, if there is one: a frame. */
  proof(): Uint8Array {
    const { identity } = this.#modules
    const proof = encodePacket({ type: 'proof', signature: identity.sign(this.#digest(this.#side)) })
    if (this.#credential === undefined) return proof
    // It may have been renewed since the hello was made.
    return joined(proof, credentialPacket(this.#modules.acting?.credential() ?? this.#credential))
  }

  /** Takes the other's proof. Throws HANDSHAKE_FAILED when it proves nothing, and what decoding throws. */
  receiveProof(body: Uint8Array): Peer {
    const peer = this.#peer
    const proof = decodePacket(PacketType.proof, body)
    if (peer === undefined || proof.type !== 'proof')
      throw transportError('HANDSHAKE_FAILED', 'a proof before a hello')
    const digest = this.#digest(this.#side === 'dialler' ? 'listener' : 'dialler')
    const signer = this.#modules.crypto.recover(digest, proof.signature)
    if (!equalBytes(signer, nodeIdToBytes(peer.nodeId)))
      throw transportError('HANDSHAKE_FAILED', `the signature is not ${peer.nodeId}'s`)
    return peer
  }

  /** Takes the other's credential, proven as it is. Throws HANDSHAKE_FAILED, a DELEGATION_ code, and what decoding throws. */
  receiveCredential(peer: Peer, type: number, body: Uint8Array): Peer {
    if (type !== PacketType.credential)
      throw transportError('HANDSHAKE_FAILED', 'a proof without its credential')
    return { ...peer, actingFor: checkedCredential(peer.nodeId, body, this.#modules) }
  }

  get #side(): LinkSide {
    return this.direction === 'outbound' ? 'dialler' : 'listener'
  }

  #check({ nodeId, address }: Hello): void {
    const { expectedPeerId, isOwnAddress } = this.#options
    if (nodeId === this.#modules.identity.nodeId)
      throw transportError('HANDSHAKE_FAILED', 'the other side claims our own id')
    if (expectedPeerId !== undefined && nodeId !== expectedPeerId)
      throw transportError('PEER_ID_MISMATCH', `expected ${expectedPeerId}, found ${nodeId}`)
    if (isOwnAddress?.(address) === false)
      throw transportError('HANDSHAKE_FAILED', `dialled as ${address}, which is not an address of this side`)
  }

  #digest(prover: LinkSide): Uint8Array {
    if (this.#hellos === undefined) throw transportError('HANDSHAKE_FAILED', 'a proof before a hello')
    const { binding } = this.#options.channel
    return handshakeDigest({ prover, hellos: this.#hellos, binding }, this.#modules.crypto)
  }
}

/** Throws CAPABILITY_MISSING when one side requires what the other lacks. */
function commonCapabilities(ours: readonly Capability[], theirs: readonly Capability[]): ReadonlySet<string> {
  const own = namesOf(ours)
  const others = new Set(theirs.map(({ name }) => name))
  const missing = [...ours, ...theirs].find(
    ({ name, required }) => required && !(own.has(name) && others.has(name)),
  )
  if (missing !== undefined) throw transportError('CAPABILITY_MISSING', missing.name)
  const common = [...own].filter((name) => others.has(name))
  if (common.length === 0) return none
  return common.length === own.size ? own : new Set(common)
}

/** Of all links whose ends have nothing in common. */
const none: ReadonlySet<string> = new Set()

/** One set for all links of a process: most peers can do what it can. */
const known = new WeakMap<readonly Capability[], ReadonlySet<string>>()

function namesOf(capabilities: readonly Capability[]): ReadonlySet<string> {
  let names = known.get(capabilities)
  if (names === undefined) known.set(capabilities, (names = new Set(capabilities.map(({ name }) => name))))
  return names
}

/** Takes the header off a packet made here. */
function bodyOf(packet: Uint8Array): Uint8Array {
  return readPackets(packet)[0]?.body ?? packet
}

function equalBytes(a: Uint8Array | undefined, b: Uint8Array): boolean {
  return a !== undefined && a.length === b.length && a.every((byte, i) => byte === b[i])
}
