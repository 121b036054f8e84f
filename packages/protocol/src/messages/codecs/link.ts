import { readNodeId, readWord, writeNodeId, writeWord } from '../../codec/fields.ts'
import { protocolError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { linkRoles, PROTOCOL_VERSION, sealings } from '../packets.ts'
import type { Close, Fragment, Hello, Ping, Pong, Proof } from '../packets.ts'
import type { BodyCodec } from './body-codec.ts'
import { readFlag, writeFlag } from './flag.ts'

const nonceBytes = 32
const signatureBytes = 65

/** The version comes first and alone decides how the rest is read: of another version nothing else is looked at. */
export const hello: BodyCodec<Hello> = {
  write(writer, packet) {
    writer.u8(packet.version)
    writeWord(writer, linkRoles, packet.role, 'role')
    writeNodeId(writer, packet.nodeId)
    writer.fixed(packet.nonce, nonceBytes, 'nonce')
    writeWord(writer, sealings, packet.sealing, 'sealing')
    writer.ascii(packet.address, limits.maxAddressBytes, 'address')
    writer.text(packet.agent, limits.maxTextBytes, 'agent')
  },
  read(reader) {
    const version = reader.u8()
    if (version !== PROTOCOL_VERSION) {
      throw protocolError('UNSUPPORTED_VERSION', `protocol version ${version}, this is ${PROTOCOL_VERSION}`)
    }
    return {
      type: 'hello',
      version,
      role: readWord(reader, linkRoles, 'role'),
      nodeId: readNodeId(reader),
      nonce: reader.view(nonceBytes),
      sealing: readWord(reader, sealings, 'sealing'),
      address: reader.ascii(limits.maxAddressBytes, 'address'),
      agent: reader.text(limits.maxTextBytes, 'agent'),
    }
  },
}

export const proof: BodyCodec<Proof> = {
  write: (writer, packet) => writer.fixed(packet.signature, signatureBytes, 'signature'),
  read: (reader) => ({ type: 'proof', signature: reader.view(signatureBytes) }),
}

export const ping: BodyCodec<Ping> = {
  write: (writer, packet) => writer.u32(packet.token),
  read: (reader) => ({ type: 'ping', token: reader.u32() }),
}

export const pong: BodyCodec<Pong> = {
  write: (writer, packet) => writer.u32(packet.token),
  read: (reader) => ({ type: 'pong', token: reader.u32() }),
}

export const close: BodyCodec<Close> = {
  write(writer, packet) {
    writer.ascii(packet.code, limits.maxTextBytes, 'close code')
    writer.text(packet.reason, limits.maxTextBytes, 'close reason')
  },
  read: (reader) => ({
    type: 'close',
    code: reader.ascii(limits.maxTextBytes, 'close code'),
    reason: reader.text(limits.maxTextBytes, 'close reason'),
  }),
}

export const fragment: BodyCodec<Fragment> = {
  write(writer, packet) {
    writeFlag(writer, packet.last)
    writer.raw(packet.bytes)
  },
  read(reader) {
    const last = readFlag(reader)
    if (reader.remaining === 0) throw protocolError('MALFORMED_PACKET', 'an empty fragment')
    return { type: 'fragment', last, bytes: reader.rest() }
  },
}
