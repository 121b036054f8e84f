import { toNodeId, type MessageRef, type NodeId } from '@runnel/protocol'
import { storageError } from '../errors.ts'
import type { PageCursor } from './message-store.ts'

/** What batches of a stream part are ordered by: first message, last message, publisher, chain. No two have the same. */
export interface BatchPlace {
  readonly first: MessageRef
  readonly last: MessageRef
  readonly publisherId: NodeId
  readonly messageChainId: string
}

export function toCursor({ first, last, publisherId, messageChainId }: BatchPlace): PageCursor {
  const numbers = [first.timestamp, first.sequenceNumber, last.timestamp, last.sequenceNumber]
  return [...numbers, publisherId, Buffer.from(messageChainId).toString('hex')].join('.')
}

/** Cursors come back from other machines. Throws STORE_CURSOR_INVALID. */
export function fromCursor(cursor: PageCursor): BatchPlace {
  const match =
    /^(\d{1,15})\.(\d{1,10})\.(\d{1,15})\.(\d{1,10})\.(0x[0-9a-f]{40})\.((?:[0-9a-f]{2}){0,32})$/.exec(cursor)
  if (match === null) throw storageError('STORE_CURSOR_INVALID', JSON.stringify(cursor.slice(0, 60)))
  const [, firstTime, firstNumber, lastTime, lastNumber, publisher = '', chain = ''] = match
  return {
    first: { timestamp: Number(firstTime), sequenceNumber: Number(firstNumber) },
    last: { timestamp: Number(lastTime), sequenceNumber: Number(lastNumber) },
    publisherId: toNodeId(publisher),
    messageChainId: Buffer.from(chain, 'hex').toString(),
  }
}
