import { readList, readNodeId, readWord, writeList, writeNodeId, writeWord } from '../../codec/fields.ts'
import type { Reader } from '../../codec/reader.ts'
import type { Writer } from '../../codec/writer.ts'
import { limits } from '../../limits.ts'
import {
  signalKinds,
  type IceServer,
  type IceServers,
  type OfferTaken,
  type Signal,
} from '../packets/signalling.ts'
import type { TrackerError } from '../packets/overlay.ts'
import type { BodyCodec } from './body-codec.ts'

export const signal: BodyCodec<Signal> = {
  write(writer, packet) {
    writeNodeId(writer, packet.peerId)
    writer.u32(packet.sessionId)
    writeWord(writer, signalKinds, packet.kind, 'signal kind')
    writer.text(packet.payload, limits.maxSignalBytes, 'signal')
  },
  read: (reader) => ({
    type: 'signal',
    peerId: readNodeId(reader),
    sessionId: reader.u32(),
    kind: readWord(reader, signalKinds, 'signal kind'),
    payload: reader.text(limits.maxSignalBytes, 'signal'),
  }),
}

export const offerTaken: BodyCodec<OfferTaken> = {
  write(writer, packet) {
    writer.u32(packet.sessionId)
    writeNodeId(writer, packet.peerId)
  },
  read: (reader) => ({ type: 'offerTaken', sessionId: reader.u32(), peerId: readNodeId(reader) }),
}

function writeIceServer(writer: Writer, server: IceServer): void {
  writer.ascii(server.url, limits.maxUrlBytes, 'URL')
  writer.text(server.username, limits.maxTextBytes, 'username')
  writer.text(server.credential, limits.maxTextBytes, 'credential')
}

function readIceServer(reader: Reader): IceServer {
  return {
    url: reader.ascii(limits.maxUrlBytes, 'URL'),
    username: reader.text(limits.maxTextBytes, 'username'),
    credential: reader.text(limits.maxTextBytes, 'credential'),
  }
}

export const iceServers: BodyCodec<IceServers> = {
  write(writer, packet) {
    writeList(writer, packet.servers, limits.maxIceServers, 'ICE servers', writeIceServer)
    writer.varint(packet.ttlS)
  },
  read: (reader) => ({
    type: 'iceServers',
    servers: readList(reader, limits.maxIceServers, 'ICE servers', readIceServer),
    ttlS: reader.varint(),
  }),
}

export const trackerError: BodyCodec<TrackerError> = {
  write(writer, packet) {
    writer.ascii(packet.code, limits.maxTextBytes, 'error code')
    writer.text(packet.message, limits.maxTextBytes, 'error message')
  },
  read: (reader) => ({
    type: 'trackerError',
    code: reader.ascii(limits.maxTextBytes, 'error code'),
    message: reader.text(limits.maxTextBytes, 'error message'),
  }),
}
