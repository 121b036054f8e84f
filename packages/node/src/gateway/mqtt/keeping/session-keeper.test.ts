import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { toNodeId, toStreamId } from '@runnel/protocol'
import { VirtualClock } from '@runnel/transport'
import { describe, expect, it } from 'vitest'
import { newDirectory } from '../../../cli.testkit.ts'
import { Sessions } from '../core/sessions.ts'
import type { Session, SubscriptionOptions, Will } from '../core/session.ts'
import type { Delivery } from '../core/to-mqtt.ts'
import { filterOf } from '../core/topics.ts'
import { newCounters } from '../counters.ts'
import { mqttLimits } from '../limits.ts'
import { SessionFile } from './session-file.ts'
import { SessionKeeper } from './session-keeper.ts'

const own = toNodeId(`0x${'a'.repeat(40)}`)
const options: SubscriptionOptions = {
  ...{ qos: 2, noLocal: false, retainAsPublished: false },
  ...{ retainHandling: 0, subscriptionId: 7 },
}
const message = {
  streamId: toStreamId(`${own}/t`),
  partition: 1,
  publisherId: own,
  messageChainId: 'c',
} as const

/** Processes one after the other on the same directory, each with the sessions of the one before it. */
function machine() {
  const directory = newDirectory()
  const clock = new VirtualClock()
  const errors: unknown[] = []
  const wills: string[] = []
  const start = () => {
    const counters = newCounters()
    const file = SessionFile.open(directory)
    const logger = { error: (...told: unknown[]) => errors.push(told) }
    const keeper = new SessionKeeper(mqttLimits, { file, clock, logger, counters })
    const sessions: Sessions = new Sessions(mqttLimits, {
      ...{ totals: counters, newOrigin: () => 'origin' },
      effects: {
        ended: (session) => keeper.ended(session),
        publishWill: ({ key }) => wills.push(key.clientId),
        changed: (session, waitsMs) => keeper.changed(session, waitsMs),
      },
    })
    const found = keeper.start()
    const restored = found.map((one) => {
      const session = sessions.restore(one, one.journal, clock.monotonicMs())
      keeper.restored(session)
      return session
    })
    sessions.limitAway()
    return {
      ...{ file, keeper, sessions, found, restored, counters },
      connect(clientId: string, expiryS = 60, will?: Will): Session {
        const link = { wake: () => {}, takeOver: () => {} }
        const request = { own, cleanStart: false, expiryS, receiveMaximum: 10, will, link }
        return sessions.connect({ account: 'a', clientId }, request).session
      },
      cut: (session: Session) => sessions.disconnected(session, false, clock.monotonicMs()),
      leave: (session: Session) => sessions.disconnected(session, true, clock.monotonicMs()),
      /** As kill -9 does it: what was not written is gone. */
      kill: () => file.close(),
    }
  }
  return { directory, clock, errors, wills, start }
}

/** Fills the disk of a file of sessions; returns what frees it. */
function fill(file: SessionFile): () => void {
  const inOne = file.inOne.bind(file)
  file.inOne = () => {
    throw new Error('disk full')
  }
  return () => (file.inOne = inOne)
}

function subscribe(session: Session, name = 't'): (text: string, qos?: 0 | 1 | 2) => void {
  const subscription = { session, name, filter: filterOf(name, own), options, sinceMs: 5 }
  session.subscriptions.set(name, subscription)
  session.journal?.touched()
  return (text, qos = 1) =>
    session.deliver(
      {
        ...{ streamId: `${own}/t`, partition: 0, payload: Buffer.from(text), qos, isRetained: false },
        ...{ origin: undefined, expiresMs: undefined, responseTopic: undefined },
        properties: { correlationData: Buffer.from([1]), userProperties: { a: ['b', 'c'] } },
      } satisfies Delivery,
      subscription,
    )
}

/** What an outbox sends a client that is there now. */
function sent(session: Session): unknown[] {
  session.outbox.attach(10)
  const all: unknown[] = []
  for (let next; (next = session.outbox.next(0)) !== undefined;)
    all.push(
      'releases' in next ? next.releases : [next.delivery.payload.toString(), next.messageId, next.dup],
    )
  return all
}

describe('sessions on disk', () => {
  it('have what waits and what is in flight after a kill, in order, with the same identifiers', () => {
    const { clock, start } = machine()
    const first = start()
    const session = first.connect('c')
    const deliver = subscribe(session)
    for (const text of ['acknowledged', 'sent', 'released']) deliver(text, text === 'released' ? 2 : 1)
    expect(sent(session)).toHaveLength(3)
    session.outbox.acknowledge(1)
    session.outbox.release(3)
    session.received.add(9)
    first.leave(session)
    deliver('waits')
    deliver('for who is there', 0)
    clock.advanceBy(mqttLimits.sessionFlushMs)
    first.kill()
    const { restored } = start()
    const [again] = restored
    expect(again && sent(again)).toEqual([['sent', 2, true], 3, ['waits', 4, false]])
    expect(again?.received).toEqual(new Set([9]))
    expect([...(again?.subscriptions.values() ?? [])]).toMatchObject([{ name: 't', options, sinceMs: 5 }])
    again?.outbox.attach(10)
    const delivery = { properties: { correlationData: Buffer.from([1]), userProperties: { a: ['b', 'c'] } } }
    expect(again?.outbox.next(0)).toMatchObject({ delivery, subscriptionId: 7, retain: false })
  })

  it('end when their time is over, also while there was no process', () => {
    const { clock, start } = machine()
    const first = start()
    first.leave(first.connect('short', 10))
    first.connect('there', 20)
    first.keeper.close()
    first.kill()
    clock.advanceBy(15_000)
    const found = start().found.map(({ key, leftMs }) => [key.clientId, leftMs])
    expect(found).toEqual([
      ['short', -5_000],
      ['there', 5_000],
    ])
  })

  it('wait no longer than their clients asked for, though the clock was set back meanwhile', () => {
    const { clock, start } = machine()
    const first = start()
    first.cut(first.connect('away', 60))
    first.connect('there', 60)
    first.keeper.close()
    first.kill()
    clock.moveWall(-86_400_000)
    expect(start().found.map(({ leftMs }) => leftMs)).toEqual([60_000, 60_000])
  })

  it('end once, however often a node is started again with a clock that was set back', () => {
    const { clock, start } = machine()
    const first = start()
    first.cut(first.connect('away', 60))
    first.keeper.close()
    first.kill()
    clock.moveWall(-86_400_000)
    const second = start()
    expect(second.found.map(({ leftMs }) => leftMs)).toEqual([60_000])
    clock.advanceBy(20_000)
    second.keeper.close()
    second.kill()
    expect(start().found.map(({ leftMs }) => leftMs)).toEqual([40_000])
  })

  it('leave their wills after their delays, which begin with the next process; not of who comes back, and once', () => {
    const { clock, wills, start } = machine()
    const willOf = (delayS: number): Will => ({
      ...{ topic: 'w', payload: Buffer.from('gone'), qos: 1, retain: false, delayS },
      properties: { userProperties: { a: 'b' } },
    })
    const first = start()
    for (const clientId of ['late', 'back']) first.cut(first.connect(clientId, 60, willOf(30)))
    first.connect('there', 60, willOf(20))
    first.cut(first.connect('over', 15, willOf(40)))
    first.cut(first.connect('now', 60, willOf(1)))
    first.leave(first.connect('bye', 60, willOf(10)))
    clock.advanceBy(1_000)
    first.sessions.tick(clock.monotonicMs())
    expect(wills).toEqual(['now'])
    first.keeper.close()
    clock.advanceBy(20_000)
    const second = start()
    expect(second.found.find(({ key }) => key.clientId === 'late')?.will).toEqual(willOf(30))
    second.connect('back')
    const ticked = (ms: number) => {
      clock.advanceBy(ms)
      second.sessions.tick(clock.monotonicMs())
      return wills.slice(1)
    }
    expect(ticked(0)).toEqual(['over'])
    expect(ticked(20_000)).toEqual(['over', 'there'])
    expect(ticked(10_000)).toEqual(['over', 'there', 'late'])
    second.keeper.close()
    expect(start().found.map(({ will }) => will)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })

  it('end no later for each start of a node, and are known to be of clients that were there', () => {
    const { clock, start } = machine()
    const first = start()
    first.connect('there')
    first.leave(first.connect('away'))
    first.keeper.close()
    const found: unknown[] = []
    for (let starts = 0; starts < 2; starts++) {
      clock.advanceBy(10_000)
      const next = start()
      found.push(next.found.map(({ key, leftMs, wasThere }) => [key.clientId, leftMs, wasThere]))
      next.keeper.close()
    }
    const after = (leftMs: number) => [
      ['there', leftMs, true],
      ['away', leftMs, false],
    ]
    expect(found).toEqual([after(50_000), after(40_000)])
  })

  it('are read from a file of the version before', () => {
    const { directory, start } = machine()
    const first = start()
    first.connect('there')
    first.keeper.close()
    const old = new Database(join(directory, 'sessions.sqlite'))
    old.exec('DROP TABLE will; ALTER TABLE session DROP COLUMN was_there; PRAGMA user_version = 1')
    old.close()
    expect(start().found).toMatchObject([{ key: { clientId: 'there' }, wasThere: true, will: undefined }])
  })

  it('are gone when they ended, and never there when they end with their connection', () => {
    const { start } = machine()
    const first = start()
    const [kept, turned] = [first.connect('kept'), first.connect('turned')]
    first.connect('short', 0)
    first.keeper.flush()
    expect([...first.file.sessions()].map(({ key }) => key.clientId)).toEqual(['kept', 'turned'])
    first.keeper.ended(kept)
    turned.expiryS = 0
    first.leave(turned)
    first.keeper.close()
    expect(start().found).toEqual([])
  })

  it('write nothing of what is acknowledged at once', () => {
    const { clock, start } = machine()
    const { connect, file } = start()
    const session = connect('c')
    const deliver = subscribe(session)
    for (let i = 0; i < 100; i++) {
      deliver(`${i}`)
      sent(session)
      session.outbox.acknowledge(i + 1)
    }
    clock.advanceBy(mqttLimits.sessionFlushMs)
    expect([...file.sessions()].map(({ held }) => held)).toEqual([[]])
  })

  it('know how far each chain came, and what the process before them passed on', () => {
    const { clock, start } = machine()
    const first = start()
    const places = first.keeper.feed('f')
    const nowMs = clock.now()
    for (const sequenceNumber of [0, 1]) places.note({ ...message, timestamp: nowMs, sequenceNumber })
    first.keeper.flush()
    first.kill()
    clock.advanceBy(1_000)
    const second = start()
    expect([second.keeper.wasKept('f'), second.keeper.wasKept('g')]).toEqual([true, false])
    const after = second.keeper.feed('f')
    const had = (timestamp: number, sequenceNumber: number, messageChainId = 'c') =>
      after.had({ ...message, timestamp, sequenceNumber, messageChainId })
    expect([had(nowMs, 1), had(nowMs, 2), had(nowMs, 0, 'other')]).toEqual([true, false, false])
    // Until what was missed has come, nothing is later than it was.
    expect([after.isBehind, after.heardMs]).toEqual([true, nowMs])
    after.failed()
    after.note({ ...message, timestamp: nowMs + 500, sequenceNumber: 0 })
    second.keeper.flush()
    expect(second.file.feeds().get('f')?.places.size).toBe(1)
    after.again()
    after.caughtUp()
    after.note({ ...message, timestamp: nowMs + 500, sequenceNumber: 0 })
    second.keeper.flush()
    expect(second.file.feeds().get('f')?.heardMs).toBe(clock.now())
    second.keeper.feedClosed('f')
    second.keeper.flush()
    expect(second.file.feeds().size).toBe(0)
  })

  it.each([
    ['an earlier version kept', 'user feed'],
    ['was kept for another file of the user', 'user ["an old file"] feed'],
  ])('go on with what %s', (_, earlier) => {
    const { clock, start } = machine()
    const first = start()
    first.keeper.feed(earlier).note({ ...message, timestamp: clock.now(), sequenceNumber: 3 })
    first.keeper.flush()
    first.kill()
    const second = start()
    const ids = ['user ["a"] feed', 'user ["b file"] feed']
    second.keeper.goOnWith(new Set([...ids, 'other ["a"] feed', 'user ["a"] other']))
    second.keeper.flush()
    second.kill()
    const { keeper, file } = start()
    expect([...file.feeds().keys()].sort()).toEqual(ids)
    expect(
      keeper.feed('user ["b file"] feed').had({ ...message, timestamp: clock.now(), sequenceNumber: 3 }),
    ).toBe(true)
  })

  it('go on with the least that their user had, where they have another file than each of several', () => {
    const { clock, start } = machine()
    const first = start()
    const at = (timestamp: number) => ({ ...message, timestamp, sequenceNumber: 0 })
    const [earlyMs, lateMs] = [clock.now(), clock.now() + 1_000]
    first.keeper.feed('user ["a"] feed').note(at(earlyMs))
    clock.advanceBy(1_000)
    first.keeper.feed('user ["b"] feed').note(at(lateMs))
    first.keeper.flush()
    first.kill()
    const { keeper } = start()
    keeper.goOnWith(new Set(['user ["a2"] feed', 'user ["b"] feed']))
    const [renamed, same] = ['user ["a2"] feed', 'user ["b"] feed'].map((id) => keeper.feed(id))
    expect([renamed?.had(at(earlyMs)), renamed?.had(at(lateMs)), same?.had(at(lateMs))]).toEqual([
      true,
      false,
      true,
    ])
  })

  it('bound what they know of chains', () => {
    const { clock, start } = machine()
    const { keeper, file } = start()
    const places = keeper.feed('f')
    for (let i = 0; i < mqttLimits.maxFeedChains + 5; i++)
      places.note({ ...message, messageChainId: `${i}`, timestamp: clock.now() + i, sequenceNumber: 0 })
    clock.advanceBy(mqttLimits.sessionAliveMs)
    const kept = file.feeds().get('f')?.places
    expect(kept?.size).toBe(mqttLimits.maxFeedChains)
    clock.advanceBy(mqttLimits.maxCatchUpMs + 60_000)
    expect(file.feeds().get('f')?.places.size).toBe(0)
  })

  it('say what cannot be written, and write it when it can be', () => {
    const { clock, start, errors } = machine()
    const { connect, file, counters } = start()
    const free = fill(file)
    connect('c')
    clock.advanceBy(mqttLimits.sessionFlushMs)
    expect([errors.length, counters.sessionWritesFailed, [...file.sessions()].length]).toEqual([1, 1, 0])
    free()
    connect('d')
    clock.advanceBy(mqttLimits.sessionFlushMs)
    expect([...file.sessions()].map(({ key }) => key.clientId)).toEqual(['c', 'd'])
  })

  it.each([
    ['session', `UPDATE session SET subscriptions = '[{'`],
    ['message', `UPDATE message SET content = x'00ff'`],
    ['will', `INSERT INTO will VALUES (1, x'ff0f6f')`],
  ])('say which file it is that has a damaged %s', (_, damage) => {
    const { directory, start } = machine()
    const { keeper, connect } = start()
    subscribe(connect('c'))('one')
    keeper.close()
    const database = new Database(join(directory, 'sessions.sqlite'))
    database.exec(damage)
    database.close()
    expect(start).toThrow(expect.objectContaining({ code: 'MQTT_SESSIONS_UNAVAILABLE' }))
  })

  it('say so once a minute, however often it is tried, and write it also when nothing changes any more', () => {
    const { clock, start, errors } = machine()
    const { connect, file, counters } = start()
    const free = fill(file)
    for (let i = 0; i < 30; i++) {
      connect(`c${i}`)
      clock.advanceBy(1_000)
    }
    expect(counters.sessionWritesFailed).toBeGreaterThan(29)
    expect(errors).toHaveLength(1)
    clock.advanceBy(60_000)
    expect(errors).toHaveLength(2)
    free()
    clock.advanceBy(mqttLimits.sessionAliveMs)
    expect([...file.sessions()]).toHaveLength(30)
  })

  it('are one process’s and one user’s, and no other file', () => {
    const { directory, start } = machine()
    start()
    expect(statSync(join(directory, 'sessions.sqlite')).mode & 0o777).toBe(0o600)
    expect(() => SessionFile.open(directory)).toThrow(/MQTT_SESSIONS_UNAVAILABLE|cannot be used/)
    const other = newDirectory()
    writeFileSync(join(other, 'sessions.sqlite'), 'something else that is long enough to be no database')
    expect(() => SessionFile.open(other)).toThrow(/cannot be used/)
  })
})
