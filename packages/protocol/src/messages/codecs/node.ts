import {
  readList,
  readNodeId,
  readRef,
  readStreamPart,
  readWord,
  writeList,
  writeNodeId,
  writeRef,
  writeStreamPart,
  writeWord,
} from '../../codec/fields.ts'
import type { Reader } from '../../codec/reader.ts'
import type { Writer } from '../../codec/writer.ts'
import { limits } from '../../limits.ts'
import { decodeBatch } from '../batch-codec.ts'
import { detachReasons, type Attach, type ChainHead, type Data, type Detach } from '../packets.ts'
import type { BodyCodec } from './body-codec.ts'

export const data: BodyCodec<Data> = {
  write: (writer, packet) => writer.raw(packet.batch.bytes),
  read: (reader) => ({ type: 'data', batch: decodeBatch(reader.rest()) }),
}

function writeHead(writer: Writer, head: ChainHead): void {
  writeNodeId(writer, head.publisherId)
  writer.shortAscii(head.messageChainId, limits.maxMessageChainIdBytes, 'message chain id')
  writeRef(writer, head)
}

function readHead(reader: Reader): ChainHead {
  return {
    publisherId: readNodeId(reader),
    messageChainId: reader.shortAscii(limits.maxMessageChainIdBytes, 'message chain id'),
    ...readRef(reader),
  }
}

export const attach: BodyCodec<Attach> = {
  write(writer, packet) {
    writeStreamPart(writer, packet.streamPartId)
    writer.varint(packet.sinceMs)
    writeList(writer, packet.heads, limits.maxChainHeads, 'message chain heads', writeHead)
  },
  read: (reader) => ({
    type: 'attach',
    streamPartId: readStreamPart(reader),
    sinceMs: reader.varint(),
    heads: readList(reader, limits.maxChainHeads, 'message chain heads', readHead),
  }),
}

export const detach: BodyCodec<Detach> = {
  write(writer, packet) {
    writeStreamPart(writer, packet.streamPartId)
    writeWord(writer, detachReasons, packet.reason, 'detach reason')
  },
  read: (reader) => ({
    type: 'detach',
    streamPartId: readStreamPart(reader),
    reason: readWord(reader, detachReasons, 'detach reason'),
  }),
}
