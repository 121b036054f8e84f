import {
  readList,
  readStreamPart,
  readWord,
  writeList,
  writeStreamPart,
  writeWord,
} from '../../codec/fields.ts'
import { limits } from '../../limits.ts'
import { decodeBatch } from '../batch-codec.ts'
import { detachReasons, type Attach, type Detach, type GuestAttach } from '../packets/neighbours.ts'
import type { Data } from '../packets/flooding.ts'
import type { BodyCodec } from './body-codec.ts'
import { readHead, writeHead } from './chain-head.ts'
import { readMembership, writeMembership } from './membership.ts'

export const data: BodyCodec<Data> = {
  write: (writer, packet) => writer.raw(packet.batch.bytes),
  read: (reader) => ({ type: 'data', batch: decodeBatch(reader.rest()) }),
}

const attachBody: BodyCodec<Omit<Attach, 'type'>> = {
  write(writer, packet) {
    writeStreamPart(writer, packet.streamPartId)
    writer.varint(packet.sinceMs)
    writeList(writer, packet.heads, limits.maxChainHeads, 'message chain heads', writeHead)
    writeMembership(writer, packet.membership)
  },
  read: (reader) => ({
    streamPartId: readStreamPart(reader),
    sinceMs: reader.varint(),
    heads: readList(reader, limits.maxChainHeads, 'message chain heads', readHead),
    ...readMembership(reader),
  }),
}

export const attach: BodyCodec<Attach> = {
  write: attachBody.write,
  read: (reader) => ({ type: 'attach', ...attachBody.read(reader) }),
}

export const guestAttach: BodyCodec<GuestAttach> = {
  write: attachBody.write,
  read: (reader) => ({ type: 'guestAttach', ...attachBody.read(reader) }),
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
