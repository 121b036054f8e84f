import { decodePacket, readPackets, type Piece, type UrgentMessage } from '@runnel/protocol'
import { expect, it } from 'vitest'
import { UrgentPackets } from './urgent-packets.ts'

it('sends a message again in pieces, from the beginning, as another object', () => {
  const packets = new UrgentPackets({ maxUrgentAliases: 4 })
  const message: UrgentMessage = {
    ...{ batchBytes: new Uint8Array(1_700), headerBytes: 0, publisher: 'p', chain: 'c' },
    ...{ deadlineMs: 1_000, priority: 9, group: 0, object: 0, order: 'oldest' },
  }
  const send = () => {
    const { packet, isLast } = packets.next(message, 500, 1_000)
    const [only] = [...readPackets(packet)]
    const piece = decodePacket(only?.type ?? 0, only?.body ?? packet) as Piece
    return { object: piece.object, index: piece.index, bytes: piece.bytes.length, isLast }
  }
  const pieces = (object: number) => [
    { object, index: 0, bytes: 1_000, isLast: false },
    { object, index: 1, bytes: 700, isLast: true },
  ]
  expect([send(), send()]).toEqual(pieces(1))
  expect([send(), send()]).toEqual(pieces(2))
})
