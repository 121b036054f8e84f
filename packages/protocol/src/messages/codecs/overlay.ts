import {
  checkDistinct,
  maxU32,
  readList,
  readNodeId,
  readStreamPart,
  readWord,
  writeList,
  writeNodeId,
  writeStreamPart,
  writeWord,
} from '../../codec/fields.ts'
import type { Reader } from '../../codec/reader.ts'
import type { Writer } from '../../codec/writer.ts'
import { limits } from '../../limits.ts'
import { failureReasons } from '../packets/overlay.ts'
import type {
  FailedNeighbour,
  FullStatus,
  Instruction,
  Leave,
  NeighbourReport,
  Redirect,
  Status,
  WantedNeighbour,
} from '../packets/overlay.ts'
import type { BodyCodec } from './body-codec.ts'
import { readContact, writeContact } from './contact.ts'
import { readMembership, writeMembership } from './membership.ts'

/** A round-trip time is sent as tenths of a millisecond plus one; 0 says that it is not known. */
function writeReport(writer: Writer, report: NeighbourReport): void {
  writeNodeId(writer, report.nodeId)
  writer.varint(report.rttMs === undefined ? 0 : Math.round(report.rttMs * 10) + 1, maxU32)
}

function readReport(reader: Reader): NeighbourReport {
  const nodeId = readNodeId(reader)
  const tenthsPlusOne = reader.varint(maxU32)
  return { nodeId, rttMs: tenthsPlusOne === 0 ? undefined : (tenthsPlusOne - 1) / 10 }
}

function writeFailed(writer: Writer, failed: FailedNeighbour): void {
  writeNodeId(writer, failed.nodeId)
  writeWord(writer, failureReasons, failed.reason, 'failure reason')
}

function readFailed(reader: Reader): FailedNeighbour {
  return { nodeId: readNodeId(reader), reason: readWord(reader, failureReasons, 'failure reason') }
}

export const status: BodyCodec<Status> = {
  write(writer, packet) {
    checkDistinct(packet.neighbours)
    writeStreamPart(writer, packet.streamPartId)
    writer.varint(packet.counter)
    writeList(writer, packet.neighbours, limits.maxNeighbours, 'neighbours', writeReport)
    writeList(writer, packet.failed, limits.maxFailedNeighbours, 'failed neighbours', writeFailed)
    writeMembership(writer, packet.membership)
  },
  read(reader) {
    const streamPartId = readStreamPart(reader)
    const counter = reader.varint()
    const neighbours = readList(reader, limits.maxNeighbours, 'neighbours', readReport)
    checkDistinct(neighbours)
    const failed = readList(reader, limits.maxFailedNeighbours, 'failed neighbours', readFailed)
    return {
      type: 'status',
      streamPartId,
      counter,
      neighbours,
      failed,
      ...readMembership(reader),
    }
  },
}

/** A status, and behind it a byte for each neighbour in it: the same code of a transport for all versions. */
export const fullStatus: BodyCodec<FullStatus> = {
  write(writer, packet) {
    status.write(writer, { ...packet, type: 'status' })
    for (const { transport = 0 } of packet.neighbours) writer.u8(transport)
  },
  read(reader) {
    const { neighbours, ...rest } = status.read(reader)
    const linked = neighbours.map((report) => ({ ...report, transport: reader.u8() }))
    return { ...rest, type: 'fullStatus', neighbours: linked }
  },
}

export const leave: BodyCodec<Leave> = {
  write: (writer, packet) => writeStreamPart(writer, packet.streamPartId),
  read: (reader) => ({ type: 'leave', streamPartId: readStreamPart(reader) }),
}

export const redirect: BodyCodec<Redirect> = {
  write(writer, { streamPartId, leaderId }) {
    writeStreamPart(writer, streamPartId)
    writeNodeId(writer, leaderId)
  },
  read: (reader) => ({
    type: 'redirect',
    streamPartId: readStreamPart(reader),
    leaderId: readNodeId(reader),
  }),
}

export function writeWanted(writer: Writer, wanted: WantedNeighbour): void {
  writeNodeId(writer, wanted.nodeId)
  writeContact(writer, wanted.contact)
}

export function readWanted(reader: Reader): WantedNeighbour {
  return { nodeId: readNodeId(reader), contact: readContact(reader) }
}

export const instruction: BodyCodec<Instruction> = {
  write(writer, packet) {
    checkDistinct(packet.neighbours)
    writeStreamPart(writer, packet.streamPartId)
    writer.varint(packet.counter)
    writeList(writer, packet.neighbours, limits.maxNeighbours, 'neighbours', writeWanted)
  },
  read(reader) {
    const streamPartId = readStreamPart(reader)
    const counter = reader.varint()
    const neighbours = readList(reader, limits.maxNeighbours, 'neighbours', readWanted)
    checkDistinct(neighbours)
    return { type: 'instruction', streamPartId, counter, neighbours }
  },
}
