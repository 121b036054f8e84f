import {
  actsForCapability,
  checkCredential,
  decodePacket,
  encodePacket,
  PacketType,
  type ActingFor,
  type Capability,
  type Credential,
  type CredentialPacket,
  type NodeId,
} from '@runnel/protocol'
import type { ConnectionModules } from './modules.ts'

/** Of a side whose credential comes behind its proof. */
export const showsCredential: Capability = { name: actsForCapability, required: false }

/** One credential is shown on every link. */
const packets = new WeakMap<Credential, Uint8Array>()

export function credentialPacket(credential: Credential): Uint8Array {
  const known = packets.get(credential)
  if (known !== undefined) return known
  const { delegation, token } = credential
  const packet = encodePacket({ type: 'credential', delegation, token })
  packets.set(credential, packet)
  return packet
}

/** For whom a proven peer acts. Throws a DELEGATION_ code, and what decoding throws. */
export function checkedCredential(
  nodeId: NodeId,
  body: Uint8Array,
  modules: Pick<ConnectionModules, 'crypto' | 'credentialCrypto' | 'clock' | 'acting'>,
): ActingFor {
  const { clock, acting, crypto, credentialCrypto = crypto } = modules
  const packet = decodePacket(PacketType.credential, body) as CredentialPacket
  return checkCredential(packet, { nodeId, chainId: acting?.chainId, wallMs: clock.now() }, credentialCrypto)
}
