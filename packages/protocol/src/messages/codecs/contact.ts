import type { Reader } from '../../codec/reader.ts'
import type { Writer } from '../../codec/writer.ts'
import { protocolError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import type { About, Contact, NodeInfo } from '../packets/overlay.ts'
import type { BodyCodec } from './body-codec.ts'

/** Of transports, and of nodes. */
const kindPattern = /^[a-z][a-z0-9-]*$/

/** What is dialled, and where: of kinds that this version does not know too, as others may. */
export function writeContact(writer: Writer, { addresses, dials }: Contact): void {
  writer.count(dials.length, limits.maxAddresses, 'kinds')
  for (const kind of dials) writeKind(writer, kind)
  writer.count(addresses.length, limits.maxAddresses, 'addresses')
  for (const { kind, text } of addresses) {
    writeKind(writer, kind)
    writer.ascii(text, limits.maxUrlBytes, 'address')
  }
}

export function readContact(reader: Reader): Contact {
  const dials = readList(reader, 'kinds', () => readKind(reader))
  const addresses = readList(reader, 'addresses', () => ({
    kind: readKind(reader),
    text: reader.ascii(limits.maxUrlBytes, 'address'),
  }))
  return { addresses, dials }
}

function readList<Item>(reader: Reader, what: string, read: () => Item): readonly Item[] {
  return Array.from({ length: reader.count(limits.maxAddresses, what) }, read)
}

function readKind(reader: Reader): string {
  return checkedKind(reader.ascii(limits.maxTransportKindBytes, 'kind'))
}

function writeKind(writer: Writer, kind: string): void {
  writer.ascii(checkedKind(kind), limits.maxTransportKindBytes, 'kind')
}

function checkedKind(kind: string): string {
  if (!kindPattern.test(kind)) throw protocolError('MALFORMED_PACKET', 'not the name of a kind')
  return kind
}

export const nodeInfo: BodyCodec<NodeInfo> = {
  write: (writer, { contact }) => writeContact(writer, contact),
  read: (reader) => ({ type: 'nodeInfo', contact: readContact(reader) }),
}

/** What a node is, is written like a kind of transport. */
export const about: BodyCodec<About> = {
  write(writer, { role, version, name }) {
    writeKind(writer, role)
    writer.ascii(version, limits.maxNodeVersionBytes, 'version')
    writer.ascii(name, limits.maxNodeNameBytes, 'name')
  },
  read: (reader) => ({
    type: 'about',
    role: readKind(reader),
    version: reader.ascii(limits.maxNodeVersionBytes, 'version'),
    name: reader.ascii(limits.maxNodeNameBytes, 'name'),
  }),
}
