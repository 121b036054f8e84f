import { readStreamPart, writeStreamPart } from '../../codec/fields.ts'
import type { Reader } from '../../codec/reader.ts'
import type { Writer } from '../../codec/writer.ts'
import { protocolError } from '../../errors.ts'
import { decodeBatch } from '../batch-codec.ts'
import { keyTagBytes } from '../message-key.ts'
import type { AskLatest, Latest } from '../packets/gaps.ts'
import type { AskTable } from '../packets/storage.ts'
import type { BodyCodec } from './body-codec.ts'
import { readOptional, writeOptional } from './optional.ts'
import { readToken, writeToken } from './token.ts'

function writeKeyTag(writer: Writer, tag: Uint8Array): void {
  if (tag.length !== keyTagBytes) throw protocolError('MALFORMED_PACKET', `a key tag of ${tag.length} bytes`)
  writer.raw(tag)
}

const readKeyTag = (reader: Reader): Uint8Array => reader.view(keyTagBytes).slice()

export const askLatest: BodyCodec<AskLatest> = {
  write(writer, packet) {
    writer.u32(packet.requestId)
    writeStreamPart(writer, packet.streamPartId)
    writeOptional(writer, packet.tag, writeKeyTag)
  },
  read: (reader) => ({
    type: 'askLatest',
    requestId: reader.u32(),
    streamPartId: readStreamPart(reader),
    tag: readOptional(reader, readKeyTag),
  }),
}

export const latest: BodyCodec<Latest> = {
  write(writer, packet) {
    writer.u32(packet.requestId)
    if (packet.batch !== undefined) writer.raw(packet.batch.bytes)
  },
  // It is kept longer than the frame that it came in.
  read(reader) {
    const requestId = reader.u32()
    const bytes = reader.rest()
    return { type: 'latest', requestId, batch: bytes.length === 0 ? undefined : decodeBatch(bytes.slice()) }
  },
}

export const askTable: BodyCodec<AskTable> = {
  write(writer, packet) {
    writer.u32(packet.requestId)
    writeStreamPart(writer, packet.streamPartId)
    writeOptional(writer, packet.tag, writeKeyTag)
    writer.u32(packet.windowBytes)
    writeOptional(writer, packet.token, writeToken)
  },
  read: (reader) => ({
    type: 'askTable',
    requestId: reader.u32(),
    streamPartId: readStreamPart(reader),
    tag: readOptional(reader, readKeyTag),
    windowBytes: reader.u32(),
    token: readOptional(reader, readToken),
  }),
}
