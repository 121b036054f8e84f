import { ciphers } from '../index.ts'
import { toStreamId } from '../ids/stream-id.ts'
import { toHex, toPlainJson } from '../messages/plain-json.testkit.ts'
import { sampleNodeId } from '../messages/samples.testkit.ts'
import { chainTagOf, cursorChain, readerIdOf } from './reader-chains.ts'
import { encodeCursor, type ReaderCursor } from './reader-cursor.ts'

const streamId = toStreamId(`${sampleNodeId('a')}/jobs`)

/** Chains of readers, tags of chains, and cursors. */
export function readerVectors() {
  const chains = [0, 7].map((partition) => ({
    ...{ partition, publisherId: sampleNodeId('b'), messageChainId: `chain ${partition}` },
  }))
  const [first = '', second = ''] = chains.map((chain) => chainTagOf(ciphers, chain))
  const at = (timestamp: number, sequenceNumber = 0) => ({ timestamp, sequenceNumber })
  const nowMs = 1_750_000_000_000
  const cursors: Record<string, ReaderCursor> = {
    'at the first message': { generation: 0, floorMs: 0, chains: [] },
    'put elsewhere': { generation: 3, floorMs: nowMs, chains: [] },
    'of two chains': {
      ...{ generation: 0, floorMs: nowMs },
      chains: [
        { tag: first, ranges: [{ after: at(nowMs - 1), upTo: at(nowMs + 40, 2) }] },
        {
          tag: second,
          ranges: [
            { after: at(nowMs + 5, 1), upTo: at(nowMs + 5, 300) },
            { after: at(nowMs + 900), upTo: at(nowMs + 70_000, 2 ** 32 - 1) },
          ],
        },
      ],
    },
  }
  return {
    readers: ['billing', 'größe'].map((name) => {
      const readerId = readerIdOf(ciphers, streamId, name)
      return {
        streamId,
        name,
        readerIdHex: toHex(readerId),
        chains: [0, 15].map((slot) => cursorChain(readerId, slot)),
      }
    }),
    tags: chains.map((chain) => ({ ...chain, tag: chainTagOf(ciphers, chain) })),
    cursors: Object.entries(cursors).map(([name, cursor]) => ({
      ...{ name, cursor: toPlainJson(cursor), hex: toHex(encodeCursor(cursor)) },
    })),
  }
}
