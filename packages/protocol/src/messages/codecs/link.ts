import type { Reader } from '../../codec/reader.ts'
import { readNodeId, readWord, writeNodeId, writeWord } from '../../codec/fields.ts'
import { protocolError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { linkRoles, sealings } from '../packets/link.ts'
import { protocolVersions } from '../capabilities.ts'
import type { Capability, VersionRange } from '../capabilities.ts'
import type { Close, Fragment, Hello, Ping, Pong, Proof } from '../packets/link.ts'
import type { BodyCodec } from './body-codec.ts'
import { readFlag, writeFlag } from './flag.ts'

const nonceBytes = 32
const signatureBytes = 65

/** Versions come first and stay: of a side that speaks none of ours nothing else is looked at. */
export const hello: BodyCodec<Hello> = {
  write(writer, packet) {
    writer.u8(packet.versions.oldest)
    writer.u8(packet.versions.newest)
    writeWord(writer, linkRoles, packet.role, 'role')
    writeNodeId(writer, packet.nodeId)
    writer.fixed(packet.nonce, nonceBytes, 'nonce')
    writeWord(writer, sealings, packet.sealing, 'sealing')
    writer.ascii(packet.address, limits.maxAddressBytes, 'address')
    writer.text(packet.agent, limits.maxTextBytes, 'agent')
    writer.count(packet.capabilities.length, limits.maxCapabilities, 'capabilities')
    for (const { name, required } of packet.capabilities) {
      writer.ascii(name, limits.maxCapabilityBytes, 'capability')
      writeFlag(writer, required)
    }
  },
  read(reader) {
    return {
      type: 'hello',
      versions: readVersions(reader),
      role: readWord(reader, linkRoles, 'role'),
      nodeId: readNodeId(reader),
      nonce: reader.view(nonceBytes),
      sealing: readWord(reader, sealings, 'sealing'),
      address: reader.ascii(limits.maxAddressBytes, 'address'),
      agent: reader.text(limits.maxTextBytes, 'agent'),
      capabilities: readCapabilities(reader),
    }
  },
}

/** Of before 1.0 only the first byte is a version; those that have none in common with us are refused either way. */
function readVersions(reader: Reader): VersionRange {
  const versions = { oldest: reader.u8(), newest: reader.u8() }
  const { oldest, newest } = protocolVersions
  if (versions.oldest <= newest && versions.newest >= oldest && versions.oldest <= versions.newest)
    return versions
  const [theirs, ours] = [versions, protocolVersions].map((range) => `${range.oldest} to ${range.newest}`)
  throw protocolError('UNSUPPORTED_VERSION', `protocol versions ${theirs}, these are ${ours}`)
}

function readCapabilities(reader: Reader): readonly Capability[] {
  const count = reader.count(limits.maxCapabilities, 'capabilities')
  return Array.from({ length: count }, () => ({
    name: reader.ascii(limits.maxCapabilityBytes, 'capability'),
    required: readFlag(reader),
  }))
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
