import { readList, readNodeId, writeList, writeNodeId } from '../../codec/fields.ts'
import { readCard, writeCard } from '../../encryption/card.ts'
import { protocolError } from '../../errors.ts'
import type { NodeId } from '../../ids/node-id.ts'
import { limits } from '../../limits.ts'
import type { AskCards, Cards, KeepCard } from '../packets/storage.ts'
import type { BodyCodec } from './body-codec.ts'

export const keepCard: BodyCodec<KeepCard> = {
  write(writer, { requestId, card }) {
    writer.u32(requestId)
    writeCard(writer, card)
  },
  read: (reader) => ({ type: 'keepCard', requestId: reader.u32(), card: readCard(reader) }),
}

export const askCards: BodyCodec<AskCards> = {
  write(writer, { requestId, userIds }) {
    writer.u32(requestId)
    writeList(writer, eachOnce(userIds), limits.maxCards, 'users whose cards are asked for', writeNodeId)
  },
  read(reader) {
    const requestId = reader.u32()
    const userIds = readList(reader, limits.maxCards, 'users whose cards are asked for', readNodeId)
    return { type: 'askCards', requestId, userIds: eachOnce(userIds) }
  },
}

export const cards: BodyCodec<Cards> = {
  write(writer, packet) {
    eachOnce(packet.cards.map(({ userId }) => userId))
    writer.u32(packet.requestId)
    writeList(writer, packet.cards, limits.maxCards, 'cards', writeCard)
  },
  read(reader) {
    const requestId = reader.u32()
    const found = readList(reader, limits.maxCards, 'cards', readCard)
    eachOnce(found.map(({ userId }) => userId))
    return { type: 'cards', requestId, cards: found }
  },
}

/** Throws MALFORMED_PACKET when a user is named twice. */
function eachOnce(userIds: readonly NodeId[]): readonly NodeId[] {
  if (new Set(userIds).size < userIds.length) throw protocolError('MALFORMED_PACKET', 'a user named twice')
  return userIds
}
