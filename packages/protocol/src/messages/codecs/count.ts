import { maxU32, readStreamPart, writeStreamPart } from '../../codec/fields.ts'
import type { AskCount, Count } from '../packets/overlay.ts'
import type { BodyCodec } from './body-codec.ts'

export const askCount: BodyCodec<AskCount> = {
  write(writer, packet) {
    writer.u32(packet.requestId)
    writeStreamPart(writer, packet.streamPartId)
  },
  read: (reader) => ({ type: 'askCount', requestId: reader.u32(), streamPartId: readStreamPart(reader) }),
}

export const count: BodyCodec<Count> = {
  write(writer, packet) {
    writer.u32(packet.requestId)
    writer.varint(packet.readers, maxU32)
    writer.varint(packet.feeders, maxU32)
  },
  read: (reader) => ({
    type: 'count',
    requestId: reader.u32(),
    readers: reader.varint(maxU32),
    feeders: reader.varint(maxU32),
  }),
}
