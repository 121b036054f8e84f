import { decodeBatch } from '../batch-codec.ts'
import { Reader } from '../../codec/reader.ts'
import type { ClockAsk, ClockTell, Traced } from '../packets/flooding.ts'
import type { BodyCodec } from './body-codec.ts'

/** Largest header of a traced batch: a packet with it must still fit. */
export const maxTraceBytes = 2 + 8 + 8

/** What a traced packet says of its batch. */
export type TraceHeader = Pick<Traced, 'hops' | 'ageUs' | 'sentUs'>

export const traced: BodyCodec<Traced> = {
  write(writer, packet) {
    writer.u16(packet.hops)
    writer.varint(packet.ageUs)
    writer.varint(packet.sentUs)
    writer.raw(packet.batch.bytes)
  },
  read: (reader) => ({ type: 'traced', ...readHeader(reader), batch: decodeBatch(reader.rest()) }),
}

/** The body of a traced packet, taken apart; the batch is a view that has not been looked at. Throws MALFORMED_PACKET. */
export function readTraced(body: Uint8Array): {
  readonly trace: TraceHeader
  readonly batchBytes: Uint8Array
} {
  const reader = new Reader(body)
  return { trace: readHeader(reader), batchBytes: reader.rest() }
}

export const clockAsk: BodyCodec<ClockAsk> = {
  write: (writer, packet) => writer.u32(packet.token),
  read: (reader) => ({ type: 'clockAsk', token: reader.u32() }),
}

export const clockTell: BodyCodec<ClockTell> = {
  write(writer, packet) {
    writer.u32(packet.token)
    writer.varint(packet.atUs)
  },
  read: (reader) => ({ type: 'clockTell', token: reader.u32(), atUs: reader.varint() }),
}

function readHeader(reader: Reader): TraceHeader {
  return { hops: reader.u16(), ageUs: reader.varint(), sentUs: reader.varint() }
}
