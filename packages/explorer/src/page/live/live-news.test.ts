import type { ClientStatus } from '@runnel/client/browser'
import { protocolError, RunnelError, type StreamId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { troublesAfter, worstOf, type Troubles } from './live-news.ts'

const removed = { type: 'admission', isListed: false, error: protocolError('NODE_NOT_LISTED') } as const
const replaced = { type: 'replaced', error: new RunnelError('NODE_REPLACED', '', '') } as const
const ended = {
  type: 'subscription-ended',
  streamId: '0xa/b' as StreamId,
  error: new RunnelError('NO_SUBSCRIBE_PERMISSION', '', ''),
} as const
const renewed = { type: 'delegation', state: 'renewed', leftMs: 1 } as const

const after = (...statuses: readonly ClientStatus[]) =>
  worstOf(statuses.reduce<Troubles>((before, status) => troublesAfter(status, before), {}))

describe('what keeps the page from taking part', () => {
  it.each([
    [
      'a delegation that has expired',
      { type: 'delegation', state: 'expired', leftMs: 0 },
      /^The delegation .*expired.*join again/,
    ],
    [
      'a delegation that was revoked',
      { type: 'admission', isListed: false, error: protocolError('DELEGATION_REVOKED') },
      /revoked.*join again/,
    ],
    ['a user who is no longer listed', removed, /not on its list/],
    ['another page with the same key', replaced, /same key.*join again/],
    ['a stream that the user may not read any more', ended, /may not subscribe/],
  ] as const)('is %s', (_, status, sentence) => expect(after(status)).toMatch(sentence))

  it('stays until the same news says that it is over', () => {
    const trouble = after(removed)
    expect(after(removed, { type: 'phase', phase: 'tracker', afterMs: 1 })).toBe(trouble)
    expect(after(removed, { type: 'delegation', state: 'ending', leftMs: 1 })).toBe(trouble)
    expect(after(removed, renewed)).toBe(trouble)
    expect(after(removed, { type: 'admission', isListed: true })).toBeUndefined()
    expect(after(replaced, removed, { type: 'admission', isListed: true }, renewed)).toBe(after(replaced))
  })

  it('is no fault, after which the client goes on', () => {
    expect(after({ type: 'fault', error: new Error('odd') })).toBeUndefined()
  })
})
