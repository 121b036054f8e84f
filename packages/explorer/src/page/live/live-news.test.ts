import type { ClientStatus } from '@runnel/client/browser'
import {
  protocolError,
  RunnelError,
  toNodeId,
  type NodeId,
  type StreamId,
  type StreamPartId,
} from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { troublesAfter, worstOf, type Troubles } from './live-news.ts'

const partId = '0xa/b#0'
const removed = { type: 'admission', isListed: false, error: protocolError('NODE_NOT_LISTED') } as const
const replaced = { type: 'replaced', error: new RunnelError('NODE_REPLACED', '', '') } as const
const ended = {
  type: 'subscription-ended',
  streamId: '0xa/b' as StreamId,
  error: new RunnelError('NO_SUBSCRIBE_PERMISSION', '', ''),
} as const
const [one, other] = [toNodeId(`0x${'1'.repeat(40)}`), toNodeId(`0x${'2'.repeat(40)}`)]
const lost = (trackerId: NodeId, error = new RunnelError('TRACKER_LOST', 'It closed', 'Set the clock.')) =>
  ({ type: 'tracker', trackerId, state: 'disconnected', error }) as const
const reached = (trackerId: NodeId) => ({ type: 'tracker', trackerId, state: 'connected' }) as const
const neighbours = (...ids: readonly NodeId[]) =>
  ({ type: 'neighbours', streamPartId: partId as StreamPartId, neighbours: ids }) as const
const dropped = {
  type: 'dropped',
  counter: 'data.tooOld',
  detail: '',
  error: new RunnelError('TIMESTAMP_REFUSED', '', ''),
} as const
const renewed = { type: 'delegation', state: 'renewed', leftMs: 1 } as const

const after = (...statuses: readonly ClientStatus[]) =>
  worstOf(statuses.reduce<Troubles>((before, status) => troublesAfter(status, before, partId), {}))

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
    ['a tracker that cannot be reached', lost(one), /no tracker.*It closed\. Set the clock\.$/],
    ['a clock that is wrong', dropped, /Set the clock.*join again/],
  ] as const)('is %s', (_, status, sentence) => expect(after(status)).toMatch(sentence))

  it('stays until the same news says that it is over', () => {
    const trouble = after(removed)
    expect(after(removed, { type: 'phase', phase: 'tracker', afterMs: 1 })).toBe(trouble)
    expect(after(removed, { type: 'delegation', state: 'ending', leftMs: 1 })).toBe(trouble)
    expect(after(removed, renewed)).toBe(trouble)
    expect(after(removed, { type: 'admission', isListed: true })).toBeUndefined()
    expect(after(replaced, removed, { type: 'admission', isListed: true }, renewed)).toBe(after(replaced))
  })

  it('is no tracker where another one serves, or where there are neighbours', () => {
    expect(after(lost(one), reached(one))).toBeUndefined()
    expect(after(reached(one), reached(other), lost(one))).toBeUndefined()
    expect(after(reached(one), reached(other), lost(one), lost(other))).toBeDefined()
    expect(after(lost(one), neighbours(other))).toBeUndefined()
    expect(after(lost(one), neighbours(other), neighbours())).toBe(after(lost(one)))
    expect(after({ type: 'tracker', trackerId: one, state: 'disconnected' })).toBeUndefined()
  })

  it('regards the neighbours of the stream part that it shows, not those of the one with its keys', () => {
    const ofKeys = (...ids: readonly NodeId[]) =>
      ({ ...neighbours(...ids), streamPartId: '0xa/b#100' as StreamPartId }) as const
    expect(after(lost(one), neighbours(other), ofKeys())).toBeUndefined()
    expect(after(lost(one), neighbours(), ofKeys(other))).toBe(after(lost(one)))
  })

  it('is no message that was dropped for another reason than its time', () => {
    expect(after({ type: 'dropped', counter: 'data.malformed', detail: '' })).toBeUndefined()
  })

  it('is no fault, after which the client goes on', () => {
    expect(after({ type: 'fault', error: new Error('odd') })).toBeUndefined()
  })
})
