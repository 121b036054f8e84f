import {
  ciphers,
  encodeCursor,
  readerIdOf,
  toNodeId,
  toStreamId,
  type DelegationRef,
  type ReaderCursor,
} from '@runnel/protocol'
import { expect, it } from 'vitest'
import { maxAheadMs } from '../publish/message-clock.ts'
import type { SideListener, SidePart } from '../side/side-part.ts'
import { CursorStore, type CursorStoreModules } from './cursor-store.ts'

const [userId, other] = [toNodeId(`0x${'a'.repeat(40)}`), toNodeId(`0x${'b'.repeat(40)}`)]
const readerId = readerIdOf(ciphers, toStreamId(`${userId}/jobs`), 'billing')
const nowMs = 1_750_000_000_000
const [readsRef, otherRef] = ['1'.repeat(64), '2'.repeat(64)] as DelegationRef[]

/** What a reader takes of a cursor that somebody published now. */
function taken(
  floorMs: number,
  publisherId = userId,
  delegationRef?: DelegationRef,
): readonly ReaderCursor[] {
  let publish: SideListener = () => {}
  const side: Pick<SidePart, 'on' | 'isOfReader'> = {
    isOfReader: (message) => message.delegationRef !== otherRef,
    on: (_, listener) => {
      publish = listener
      return () => {}
    },
  }
  const modules = { userId, side } as unknown as CursorStoreModules
  const cursors: ReaderCursor[] = []
  new CursorStore({ readerId, sequenceNumber: 0 }, modules).listen((cursor) => cursors.push(cursor))
  publish({
    publisherId,
    delegationRef,
    messageChainId: '@c0',
    place: { timestamp: nowMs, sequenceNumber: 0 },
    content: encodeCursor({ generation: 1, floorMs, chains: [] }),
  })
  return cursors
}

it('takes no cursor of another user, and none that is done with what is still to be published', () => {
  expect(taken(nowMs)).toHaveLength(1)
  expect(taken(nowMs + maxAheadMs)).toHaveLength(1)
  expect(taken(nowMs + maxAheadMs + 1)).toEqual([])
  expect(taken(nowMs, other)).toEqual([])
})

it('takes the cursors of delegates that may read for the user, and of no others', () => {
  expect(taken(nowMs, userId, readsRef)).toHaveLength(1)
  expect(taken(nowMs, userId, otherRef)).toHaveLength(0)
})
