import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { LadderRate } from '../ladder-rate.ts'
import type { PeerTask } from '../peer-record.ts'
import { headerOf, withHeader, type ReceiverEvents, type SenderWay } from './way.ts'

/** Bytes of a packet beside the headers of IP and UDP. */
const packetBytes = 1_200
const pieceHeaderBytes = 4
/** Pictures of which pieces are missing that are remembered. */
const maxIncomplete = 64

/** Pictures in packets of UDP, sent at once. */
export async function sendByUdp({ address, port, clips }: PeerTask): Promise<SenderWay> {
  const socket = createSocket('udp4')
  socket.connect(port, address)
  await once(socket, 'connect')
  // Nobody may listen yet.
  socket.on('error', () => {})
  const ladder = new LadderRate(clips.map(({ kbitPerS }) => kbitPerS))
  return {
    kbitPerS: (nowMs) => ladder.next(socket.getSendQueueSize(), nowMs),
    send(picture) {
      const bytes = withHeader(picture)
      const most = packetBytes - pieceHeaderBytes
      const count = Math.ceil(bytes.length / most)
      for (let piece = 0; piece < count; piece++) {
        const part = bytes.subarray(piece * most, (piece + 1) * most)
        const packet = Buffer.alloc(pieceHeaderBytes + part.length)
        packet.writeUInt16BE(picture.number & 0xffff, 0)
        packet.writeUInt8(piece, 2)
        packet.writeUInt8(count, 3)
        packet.set(part, pieceHeaderBytes)
        socket.send(packet)
      }
    },
    startBulk() {
      throw new Error('UDP has no stream beside: tcp is the same')
    },
  }
}

/** A picture is there when all of its packets are. */
export async function receiveByUdp({ address, port }: PeerTask, events: ReceiverEvents): Promise<void> {
  const incomplete = new Map<number, Map<number, Uint8Array>>()
  const socket = createSocket('udp4', (packet) => {
    const [key, piece, count] = [packet.readUInt16BE(0), packet.readUInt8(2), packet.readUInt8(3)]
    const pieces = incomplete.get(key) ?? new Map<number, Uint8Array>()
    incomplete.set(key, pieces.set(piece, packet.subarray(pieceHeaderBytes)))
    const [oldest] = incomplete.keys()
    if (incomplete.size > maxIncomplete && oldest !== undefined) incomplete.delete(oldest)
    const first = pieces.get(0)
    if (pieces.size < count || first === undefined) return
    incomplete.delete(key)
    const { number, rendition } = headerOf(first)
    events.onPicture(number, rendition)
  })
  socket.bind(port, address)
  await once(socket, 'listening')
}
