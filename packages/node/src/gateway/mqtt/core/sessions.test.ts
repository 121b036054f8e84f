import { toNodeId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { mqttLimits } from '../limits.ts'
import type { Will } from './session.ts'
import { Sessions, type SessionRequest } from './sessions.ts'

const own = toNodeId(`0x${'a'.repeat(40)}`)
const will: Will = { topic: 'w', payload: Buffer.from('gone'), qos: 1, retain: false, delayS: 0 }

function open(limits: Partial<typeof mqttLimits> = {}) {
  const said: string[] = []
  const totals = { queuedBytes: 0, droppedQos0: 0, droppedQos1: 0, expired: 0 }
  const sessions = new Sessions(
    { ...mqttLimits, ...limits },
    {
      totals,
      newOrigin: () => 'origin',
      effects: {
        ended: ({ key }) => said.push(`ended ${key.clientId}`),
        publishWill: ({ key }) => said.push(`will of ${key.clientId}`),
        changed: () => {},
      },
    },
  )
  const connect = (clientId: string, request: Partial<SessionRequest> = {}, account = 'a') =>
    sessions.connect(
      { account, clientId },
      {
        ...{ own, cleanStart: false, expiryS: 60, receiveMaximum: 10, will: undefined },
        link: { wake: () => {}, takeOver: () => said.push(`taken over from ${clientId}`) },
        ...request,
      },
    )
  return { sessions, said, connect }
}

describe('sessions', () => {
  it('wait for their clients as long as they said, and no longer', () => {
    const { sessions, said, connect } = open()
    const { session, isPresent } = connect('c')
    expect(isPresent).toBe(false)
    sessions.disconnected(session, true, 0)
    sessions.tick(59_999)
    expect(connect('c')).toEqual({ session, isPresent: true })
    sessions.disconnected(session, true, 60_000)
    sessions.tick(120_000)
    expect(said).toEqual(['ended c'])
    expect(connect('c').isPresent).toBe(false)
  })

  it('end with their connection where nothing else is asked for, and with a clean start', () => {
    const { sessions, said, connect } = open()
    sessions.disconnected(connect('c', { expiryS: 0 }).session, true, 0)
    const kept = connect('k').session
    sessions.disconnected(kept, true, 0)
    expect(connect('k', { cleanStart: true })).toMatchObject({ isPresent: false })
    expect(said).toEqual(['ended c', 'ended k'])
  })

  it('are of one account: the same client id of another is another', () => {
    const { connect } = open()
    expect(connect('c', {}, 'b').session).not.toBe(connect('c', {}, 'a').session)
  })

  it('are taken over by the newest connection', () => {
    const { sessions, said, connect } = open()
    const first = connect('c', { will }).session
    expect(connect('c')).toMatchObject({ session: first, isPresent: true })
    expect(said).toEqual(['taken over from c', 'will of c'])
    expect(sessions.size).toBe(1)
  })

  it('that end with their connection do so too when that is taken over', () => {
    const { sessions, said, connect } = open()
    const first = connect('c', { expiryS: 0, will: { ...will, delayS: 10 } }).session
    const { session, isPresent } = connect('c')
    expect(isPresent).toBe(false)
    expect(session).not.toBe(first)
    expect(said).toEqual(['taken over from c', 'will of c', 'ended c'])
    expect(sessions.size).toBe(1)
  })

  it('publish a will after its delay, at the latest with their end, and not when the client is back or said goodbye', () => {
    const { sessions, said, connect } = open()
    const delayed = { ...will, delayS: 10 }
    sessions.disconnected(connect('now', { will }).session, false, 0)
    sessions.disconnected(connect('later', { will: delayed }).session, false, 0)
    sessions.disconnected(connect('back', { will: delayed }).session, false, 0)
    sessions.disconnected(connect('short', { will: delayed, expiryS: 5 }).session, false, 0)
    sessions.disconnected(connect('bye', { will }).session, true, 0)
    expect(said).toEqual(['will of now'])
    connect('back')
    sessions.tick(5_000)
    sessions.tick(10_000)
    expect(said).toEqual(['will of now', 'will of short', 'ended short', 'will of later'])
  })

  it('without a connection are bounded by account, and in all: what would end first goes', () => {
    const { sessions, said, connect } = open({ maxAwaySessions: 2 } as object)
    for (const [clientId, expiryS] of [
      ['a', 30],
      ['b', 10],
      ['c', 20],
    ] as const)
      sessions.disconnected(connect(clientId, { expiryS }).session, true, 0)
    expect(said).toEqual(['ended b'])
  })

  it('without a connection are shared out between accounts: of the one that has most one goes', () => {
    const { sessions, said, connect } = open({ maxAwaySessions: 3, maxTotalAwaySessions: 4 } as object)
    const leave = (clientId: string, expiryS: number, account: string) =>
      sessions.disconnected(connect(clientId, { expiryS }, account).session, true, 0)
    for (const [i, clientId] of ['a1', 'a2', 'a3'].entries()) leave(clientId, 30 + i, 'a')
    leave('b1', 10, 'b')
    leave('c1', 10, 'c')
    leave('b2', 5, 'b')
    expect(said).toEqual(['ended a1', 'ended b2'])
  })

  it('whose clients were there when an earlier node ended are as many as they are, until these come and go', () => {
    const { sessions, said, connect } = open({ maxAwaySessions: 1, maxReturningSessions: 3 } as object)
    const journal = { touched: () => {}, changed: () => {}, removed: () => {}, flush: () => {} }
    const left = { own, origin: 'o', expiryS: 60, leftMs: 60_000, subscriptions: [], received: [], held: [] }
    const restore = (clientId: string, wasThere: boolean, more: object = {}) =>
      sessions.restore(
        { ...left, key: { account: 'a', clientId }, wasThere, will: undefined, ...more },
        journal,
        0,
      )
    for (const clientId of ['1', '2', '3']) restore(clientId, true)
    restore('away', false)
    sessions.limitAway()
    expect([said, sessions.away]).toEqual([[], 4])
    restore('4', true, { leftMs: 1_000 })
    sessions.limitAway()
    expect(said).toEqual(['ended 4'])
    sessions.disconnected(connect('1').session, true, 1_000)
    expect(said).toEqual(['ended 4', 'ended away'])
    expect(connect('2').isPresent).toBe(true)
  })

  it('of an account end with it', () => {
    const { sessions, said, connect } = open()
    connect('c', {}, 'b')
    connect('c', {}, 'a')
    sessions.endAccount('a')
    expect(said).toEqual(['ended c'])
    expect(sessions.size).toBe(1)
  })
})
