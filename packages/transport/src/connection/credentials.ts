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

export function credentialPacket({ delegation, token }: Credential): Uint8Array {
  return encodePacket({ type: 'credential', delegation, token })
}

/** For whom a proven peer acts. Throws a DELEGATION_ code, and what decoding throws. */
export function checkedCredential(
  nodeId: NodeId,
  body: Uint8Array,
  { crypto, clock, acting }: Pick<ConnectionModules, 'crypto' | 'clock' | 'acting'>,
): ActingFor {
  const packet = decodePacket(PacketType.credential, body) as CredentialPacket
  return checkCredential(packet, { nodeId, chainId: acting?.chainId, wallMs: clock.now() }, crypto)
}
