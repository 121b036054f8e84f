import type { Reader } from '../../codec/reader.ts'
import type { Writer } from '../../codec/writer.ts'
import { isContactUrl } from '../../contact/contact-url.ts'
import { protocolError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import type { Contact, NodeInfo } from '../packets.ts'
import type { BodyCodec } from './body-codec.ts'

const websocketBit = 1
const webrtcBit = 2

/** A byte of flags, and the URL: see `isContactUrl`. */
export function writeContact(writer: Writer, contact: Contact): void {
  writer.u8((contact.websocket ? websocketBit : 0) | (contact.webrtc ? webrtcBit : 0))
  writer.ascii(checkedUrl(contact.websocketUrl), limits.maxUrlBytes, 'URL')
}

export function readContact(reader: Reader): Contact {
  const flags = reader.u8()
  if (flags & ~(websocketBit | webrtcBit)) throw protocolError('MALFORMED_PACKET', `contact flags ${flags}`)
  return {
    websocketUrl: checkedUrl(reader.ascii(limits.maxUrlBytes, 'URL')),
    websocket: (flags & websocketBit) !== 0,
    webrtc: (flags & webrtcBit) !== 0,
  }
}

function checkedUrl(url: string): string {
  if (!isContactUrl(url)) throw protocolError('MALFORMED_PACKET', 'a URL that nobody may be told to dial')
  return url
}

export const nodeInfo: BodyCodec<NodeInfo> = {
  write: (writer, { contact }) => writeContact(writer, contact),
  read: (reader) => ({ type: 'nodeInfo', contact: readContact(reader) }),
}
