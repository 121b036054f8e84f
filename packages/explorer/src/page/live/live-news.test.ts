import { protocolError, RunnelError } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { troubleAfter } from './live-news.ts'

const removed = { type: 'admission', isListed: false, error: protocolError('NODE_NOT_LISTED') } as const
const phase = { type: 'phase', phase: 'tracker', afterMs: 1 } as const

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
    [
      'another page with the same key',
      { type: 'replaced', error: new RunnelError('NODE_REPLACED', '', '') },
      /same key.*join again/,
    ],
    ['a fault', { type: 'fault', error: new Error('odd') }, /^That failed: odd$/],
  ] as const)('is %s', (_, status, sentence) => expect(troubleAfter(status, undefined)).toMatch(sentence))

  it('stays until the same news says that it is over', () => {
    const trouble = troubleAfter(removed, undefined)
    expect(troubleAfter(phase, trouble)).toBe(trouble)
    expect(troubleAfter({ type: 'delegation', state: 'ending', leftMs: 1 }, trouble)).toBe(trouble)
    expect(troubleAfter({ type: 'fault', error: new Error('odd') }, trouble)).toBe(trouble)
    expect(troubleAfter({ type: 'admission', isListed: true }, trouble)).toBeUndefined()
    expect(troubleAfter({ type: 'delegation', state: 'renewed', leftMs: 1 }, trouble)).toBeUndefined()
  })
})
