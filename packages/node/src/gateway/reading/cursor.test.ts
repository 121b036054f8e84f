import { toNodeId, toStreamId, type MessageChain, type MessageRef } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { gatewayLimits } from '../limits.ts'
import { beginOf, decodeCursor, encodeCursor } from './cursor.ts'
import { CursorKeeper } from './cursor-keeper.ts'

const streamId = toStreamId(`0x${'a'.repeat(40)}/s`)
const chainOf = (messageChainId: string): MessageChain => ({
  ...{ streamId, partition: 0, messageChainId },
  publisherId: toNodeId(`0x${'b'.repeat(40)}`),
})
const messageOf = (chain: string, timestamp: number, sequenceNumber = 0): MessageChain & MessageRef => ({
  ...chainOf(chain),
  ...{ timestamp, sequenceNumber },
})
const t0 = 1_700_000_000_000

/** What a reader with this cursor takes of these. */
function takenAfter(cursor: string, ...messages: readonly (MessageChain & MessageRef)[]) {
  const start = decodeCursor(streamId, cursor)
  const keeper = new CursorKeeper(gatewayLimits, start)
  const read = messages.filter(({ timestamp }) => timestamp >= beginOf(start))
  return read.filter((message) => keeper.isNew(message)).map(({ messageChainId, timestamp }) => [messageChainId, timestamp - t0]) // prettier-ignore
}

function keeperOf(...messages: readonly [chain: string, atMs: number, arrivedMs?: number][]) {
  const keeper = new CursorKeeper(gatewayLimits, { floorMs: t0, heads: new Map() })
  for (const [chain, atMs, arrivedMs = atMs] of messages)
    keeper.deliver(messageOf(chain, t0 + atMs), t0 + arrivedMs, true)
  return keeper
}

describe('a cursor', () => {
  it('is the same after text', () => {
    const heads = new Map([
      ['\0\x01abcdef', { timestamp: t0 - 5, sequenceNumber: 7 }],
      ['\xff\xfeabcdef', { timestamp: t0 + 500, sequenceNumber: 2 ** 32 - 1 }],
    ])
    expect(decodeCursor(streamId, encodeCursor(streamId, { floorMs: t0, heads }))).toEqual({
      floorMs: t0,
      heads,
    })
  })

  it.each(['', 'AA', 'x'.repeat(40), '!', 'A'.repeat(10_000)])('is not %j', (text) =>
    expect(() => decodeCursor(streamId, text)).toThrow(
      expect.objectContaining({ code: 'GATEWAY_CURSOR_INVALID' }),
    ),
  )

  it('of another stream is refused', () => {
    const text = encodeCursor(streamId, { floorMs: t0, heads: new Map() })
    expect(() => decodeCursor(toStreamId(`${streamId}2`), text)).toThrow('another stream')
  })

  it('goes on behind the head of each chain, whatever came in between', () => {
    const cursor = keeperOf(['a', 100], ['b', 90]).text(streamId) ?? ''
    const messages = [messageOf('b', t0 + 90), messageOf('b', t0 + 95), messageOf('a', t0 + 100), messageOf('a', t0 + 101)] // prettier-ignore
    expect(takenAfter(cursor, ...messages, messageOf('c', t0 + 50))).toEqual([
      ['b', 95],
      ['a', 101],
      ['c', 50],
    ])
  })

  it('reads nothing from before it began', () => {
    expect(takenAfter(keeperOf(['a', 100]).text(streamId) ?? '', messageOf('b', t0 - 1))).toEqual([])
  })

  it('keeps a chain whose clock is behind, and lets go of one that is silent', () => {
    const hour = 3_600_000
    const cursor = keeperOf(['silent', 0], ['behind', hour - 200_000, hour], ['a', hour]).text(streamId) ?? ''
    expect(decodeCursor(streamId, cursor).heads.size).toBe(2)
    const [silent, behind] = [messageOf('silent', t0), messageOf('behind', t0 + hour - 199_000)]
    expect(takenAfter(cursor, silent, behind)).toEqual([['behind', hour - 199_000]])
  })

  it('keeps nothing from a reader of a publisher that it first hears of, however far its clock is behind', () => {
    const minutes = 60_000
    const begun = decodeCursor(streamId, keeperOf(['a', 0]).text(streamId) ?? '')
    for (const keeper of [
      new CursorKeeper(gatewayLimits, begun),
      new CursorKeeper(gatewayLimits, undefined, t0 + 10 * minutes),
      new CursorKeeper(gatewayLimits, undefined),
    ]) {
      keeper.deliver(messageOf('a', t0 + 10 * minutes), t0 + 10 * minutes, true)
      expect(keeper.isNew(messageOf('behind', t0 + 7 * minutes))).toBe(true)
    }
  })

  it('is not moved ahead by a publisher whose clock is', () => {
    const cursor = keeperOf(['ahead', 300_000, 0]).text(streamId) ?? ''
    expect(takenAfter(cursor, messageOf('a', t0 + 10))).toEqual([['a', 10]])
  })

  it('has so many chains at most, the newest', () => {
    const count = gatewayLimits.maxCursorChains + 10
    const keeper = keeperOf(...Array.from({ length: count }, (_, i): [string, number] => [`c${i}`, i]))
    const text = keeper.text(streamId) ?? ''
    expect(text.length).toBeLessThanOrEqual(gatewayLimits.maxCursorChars)
    expect(decodeCursor(streamId, text).heads.size).toBe(gatewayLimits.maxCursorChains)
    expect(takenAfter(text, messageOf(`c${count - 1}`, t0 + count - 1))).toEqual([])
    expect(takenAfter(text, messageOf('c0', t0))).toEqual([['c0', 0]])
  })
})
