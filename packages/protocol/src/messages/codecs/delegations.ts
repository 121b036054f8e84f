import { bytesOfRef, delegationRefBytes, refOfBytes } from '../../delegation/delegation-ref.ts'
import { readDelegation, writeDelegation } from '../../delegation/delegation.ts'
import type { AskDelegation, DelegationPacket } from '../packets/flooding.ts'
import type { CredentialPacket } from '../packets/link.ts'
import type { BodyCodec } from './body-codec.ts'
import { readOptional, writeOptional } from './optional.ts'
import { readToken, writeToken } from './token.ts'

export const credential: BodyCodec<CredentialPacket> = {
  write(writer, { delegation, token }) {
    writeDelegation(writer, delegation)
    writeOptional(writer, token, writeToken)
  },
  read: (reader) => ({
    type: 'credential',
    delegation: readDelegation(reader),
    token: readOptional(reader, readToken),
  }),
}

export const delegation: BodyCodec<DelegationPacket> = {
  write: (writer, packet) => writeDelegation(writer, packet.delegation),
  read: (reader) => ({ type: 'delegation', delegation: readDelegation(reader) }),
}

export const askDelegation: BodyCodec<AskDelegation> = {
  write: (writer, packet) => writer.raw(bytesOfRef(packet.ref)),
  read: (reader) => ({ type: 'askDelegation', ref: refOfBytes(reader.view(delegationRefBytes)) }),
}
