import {
  checkDistinct,
  readList,
  readNodeId,
  readRef,
  readStreamPart,
  writeList,
  writeNodeId,
  writeRef,
  writeStreamPart,
} from '../../codec/fields.ts'
import type { Reader } from '../../codec/reader.ts'
import type { Writer } from '../../codec/writer.ts'
import { protocolError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { decodeBatch } from '../batch-codec.ts'
import type {
  AwaitStored,
  FindStorage,
  Resend,
  ResendCancel,
  ResendData,
  ResendEnd,
  ResendMore,
  ResendSelection,
  ResendStart,
  StorageNodes,
  Stored,
  Storing,
} from '../packets/storage.ts'
import { compareRefs, type MessageRef } from '../stream-message.ts'
import type { BodyCodec } from './body-codec.ts'
import { readHead, writeHead } from './chain-head.ts'
import { readFlag, writeFlag } from './flag.ts'
import { readOptional, writeOptional } from './optional.ts'
import { readToken, writeToken } from './token.ts'
import { readWanted, writeWanted } from './overlay.ts'

export const storing: BodyCodec<Storing> = {
  write(writer, packet) {
    writeStreamPart(writer, packet.streamPartId)
    writeFlag(writer, packet.storing)
  },
  read: (reader) => ({ type: 'storing', streamPartId: readStreamPart(reader), storing: readFlag(reader) }),
}

export const findStorage: BodyCodec<FindStorage> = {
  write(writer, packet) {
    writer.u32(packet.requestId)
    writeStreamPart(writer, packet.streamPartId)
  },
  read: (reader) => ({
    type: 'findStorage',
    requestId: reader.u32(),
    streamPartId: readStreamPart(reader),
  }),
}

export const storageNodes: BodyCodec<StorageNodes> = {
  write(writer, packet) {
    checkDistinct(packet.nodes)
    writer.u32(packet.requestId)
    writeStreamPart(writer, packet.streamPartId)
    writeList(writer, packet.nodes, limits.maxStorageNodes, 'storage nodes', writeWanted)
  },
  read(reader) {
    const requestId = reader.u32()
    const streamPartId = readStreamPart(reader)
    const nodes = readList(reader, limits.maxStorageNodes, 'storage nodes', readWanted)
    checkDistinct(nodes)
    return { type: 'storageNodes', requestId, streamPartId, nodes }
  },
}

const lastKind = 0
const rangeKind = 1

interface Span {
  readonly from: MessageRef
  readonly to: MessageRef
}

/** Both ends are inclusive: it has at least one place. */
function writeSpan(writer: Writer, { from, to }: Span): void {
  checkSpan(from, to)
  writeRef(writer, from)
  writeRef(writer, to)
}

function readSpan(reader: Reader): Span {
  const [from, to] = [readRef(reader), readRef(reader)]
  checkSpan(from, to)
  return { from, to }
}

function checkSpan(from: MessageRef, to: MessageRef): void {
  if (compareRefs(from, to) > 0) {
    throw protocolError('MALFORMED_PACKET', 'a resend from a place to one before it')
  }
}

function checkLast(count: number): void {
  if (count === 0) throw protocolError('MALFORMED_PACKET', 'a resend of the last 0 messages')
}

function writeSelection(writer: Writer, selection: ResendSelection): void {
  if (selection.kind === 'last') {
    checkLast(selection.count)
    writer.u8(lastKind)
    writer.count(selection.count, limits.maxResendCount, 'messages of a resend')
  } else {
    writer.u8(rangeKind)
    writeSpan(writer, selection)
  }
}

function readSelection(reader: Reader): ResendSelection {
  const kind = reader.u8()
  if (kind === lastKind) {
    const count = reader.count(limits.maxResendCount, 'messages of a resend')
    checkLast(count)
    return { kind: 'last', count }
  }
  if (kind !== rangeKind) throw protocolError('MALFORMED_PACKET', `unknown kind of resend ${kind}`)
  return { kind: 'range', ...readSpan(reader) }
}

const writeId = (writer: Writer, id: string) =>
  writer.shortAscii(id, limits.maxMessageChainIdBytes, 'message chain id')
const readId = (reader: Reader) => reader.shortAscii(limits.maxMessageChainIdBytes, 'message chain id')

export const resend: BodyCodec<Resend> = {
  write(writer, packet) {
    checkChain(packet)
    writer.u32(packet.requestId)
    writeStreamPart(writer, packet.streamPartId)
    writeSelection(writer, packet.selection)
    writeOptional(writer, packet.publisherId, writeNodeId)
    writeOptional(writer, packet.messageChainId, writeId)
    writer.u32(packet.windowBytes)
    writeOptional(writer, packet.token, writeToken)
  },
  read: (reader) =>
    checkChain({
      type: 'resend',
      requestId: reader.u32(),
      streamPartId: readStreamPart(reader),
      selection: readSelection(reader),
      publisherId: readOptional(reader, readNodeId),
      messageChainId: readOptional(reader, readId),
      windowBytes: reader.u32(),
      token: readOptional(reader, readToken),
    }),
}

function checkChain(packet: Resend): Resend {
  if (packet.messageChainId !== undefined && packet.publisherId === undefined) {
    throw protocolError('MALFORMED_PACKET', 'a message chain without its publisher')
  }
  return packet
}

export const resendStart: BodyCodec<ResendStart> = {
  write(writer, packet) {
    writer.u32(packet.requestId)
    writeSpan(writer, packet)
    writer.count(packet.count, limits.maxResendCount, 'messages of a resend')
  },
  read: (reader) => ({
    type: 'resendStart',
    requestId: reader.u32(),
    ...readSpan(reader),
    count: reader.count(limits.maxResendCount, 'messages of a resend'),
  }),
}

export const resendData: BodyCodec<ResendData> = {
  write(writer, packet) {
    writer.u32(packet.requestId)
    writer.raw(packet.batch.bytes)
  },
  read: (reader) => ({
    type: 'resendData',
    requestId: reader.u32(),
    batch: decodeBatch(reader.rest()),
  }),
}

export const resendMore: BodyCodec<ResendMore> = {
  write(writer, packet) {
    writer.u32(packet.requestId)
    writer.u32(packet.bytes)
  },
  read: (reader) => ({ type: 'resendMore', requestId: reader.u32(), bytes: reader.u32() }),
}

export const resendCancel: BodyCodec<ResendCancel> = {
  write: (writer, packet) => writer.u32(packet.requestId),
  read: (reader) => ({ type: 'resendCancel', requestId: reader.u32() }),
}

interface Outcome {
  readonly requestId: number
  readonly code: string
  readonly text: string
}

function writeOutcome(writer: Writer, outcome: Outcome): void {
  writer.u32(outcome.requestId)
  writer.ascii(outcome.code, limits.maxTextBytes, 'error code')
  writer.text(outcome.text, limits.maxTextBytes, 'error message')
}

function readOutcome(reader: Reader): Outcome {
  return {
    requestId: reader.u32(),
    code: reader.ascii(limits.maxTextBytes, 'error code'),
    text: reader.text(limits.maxTextBytes, 'error message'),
  }
}

export const resendEnd: BodyCodec<ResendEnd> = {
  write: writeOutcome,
  read: (reader) => ({ type: 'resendEnd', ...readOutcome(reader) }),
}

export const awaitStored: BodyCodec<AwaitStored> = {
  write(writer, packet) {
    writer.u32(packet.requestId)
    writeStreamPart(writer, packet.streamPartId)
    writeHead(writer, packet)
    writeOptional(writer, packet.token, writeToken)
  },
  read: (reader) => ({
    type: 'awaitStored',
    requestId: reader.u32(),
    streamPartId: readStreamPart(reader),
    ...readHead(reader),
    token: readOptional(reader, readToken),
  }),
}

export const stored: BodyCodec<Stored> = {
  write: writeOutcome,
  read: (reader) => ({ type: 'stored', ...readOutcome(reader) }),
}
