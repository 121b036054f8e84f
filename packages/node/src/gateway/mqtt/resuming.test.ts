import type { RunnelClient, SubscribeOptions, Subscription } from '@runnel/client'
import { toNodeId } from '@runnel/protocol'
import { VirtualClock } from '@runnel/transport'
import { expect, it } from 'vitest'
import type { GatewayAccount } from '../access/account.ts'
import { Sessions } from './core/sessions.ts'
import type { Session, SessionJournal, SessionSubscription } from './core/session.ts'
import { qos1 } from './core/subscriptions.testkit.ts'
import { filterOf } from './core/topics.ts'
import { newCounters } from './counters.ts'
import { FeedPlaces } from './keeping/feed-places.ts'
import type { FoundSession, SessionKeeper } from './keeping/session-keeper.ts'
import { Leases } from './leases.ts'
import { mqttLimits, type MqttLimits } from './limits.ts'
import { Resuming } from './resuming.ts'

const own = toNodeId(`0x${'a'.repeat(40)}`)
const nothing = () => {}

interface Opened {
  readonly path: string
  readonly hasMissed: boolean
  /** A message of it comes. */
  readonly pass: () => void
}

/**
 * A gateway that begins with these sessions, by client id with their filters, whose node before it had all these feeds. `opening`: what a
 * stream's subscribing waits for, or fails with; `acquiring`: what their client waits for.
 */
function start(
  filters: Readonly<Record<string, readonly string[]>>,
  opening: (path: string) => Promise<void> | undefined = () => undefined,
  acquiring = Promise.resolve(),
  limits: MqttLimits = mqttLimits,
) {
  const clock = new VirtualClock()
  const opened: Opened[] = []
  const subscribe = async (
    target: string,
    { resend }: SubscribeOptions,
    onMessage: (message: unknown) => void,
  ) => {
    const path = target.slice(own.length + 1)
    const place = { streamId: target, partition: 0, publisherId: own, messageChainId: 'c' }
    const content = new Uint8Array()
    const pass = () => onMessage({ ...place, timestamp: 1, sequenceNumber: 0, content, headers: {} })
    opened.push({ path, hasMissed: resend !== undefined, pass })
    await opening(path)
    return { caughtUp: () => new Promise(nothing), unsubscribe: nothing } as unknown as Subscription
  }
  const client = { account: own, subscribe } as unknown as RunnelClient
  const account = {
    ...{ name: 'a', userId: own, identity: '', maySubscribe: () => true },
    acquire: () => acquiring.then(() => ({ client, release: nothing })),
  } as unknown as GatewayAccount
  const journal: SessionJournal = { touched: nothing, changed: nothing, removed: nothing, flush: nothing }
  const found = Object.entries(filters).map(([clientId, names], i): FoundSession => ({
    ...{ key: { account: 'a', clientId }, own, origin: 'origin', expiryS: 60, leftMs: 60_000 - i },
    subscriptions: names.map((name) => ({ name, options: qos1, sinceMs: 0 })),
    ...{ received: [], held: [], wasThere: false, will: undefined, journal, drop: nothing },
  }))
  const before = new Set(
    Object.values(filters)
      .flat()
      .map((name) => `${own} ${own}/${name}`),
  )
  const kept = new Set<string>()
  const row = { heardMs: 0, places: new Map() }
  const keeper = {
    ...{ start: () => found, goOnWith: nothing },
    restored: ({ key }: Session) => kept.add(key.clientId),
    feed: (id: string) => new FeedPlaces(before.has(id) ? row : undefined, { nowMs: 10, onChanged: nothing }),
    wasKept: (id: string) => before.has(id),
    feedClosed: (id: string) => before.delete(id),
  } as unknown as SessionKeeper
  const modules = { clock, logger: { warn: nothing }, counters: newCounters(), keeper }
  const leases: Leases = new Leases(mqttLimits, {
    ...{ ...modules, delivered: nothing, joined: (user) => resuming.joined(user) },
  })
  const sessions = new Sessions(limits, {
    totals: modules.counters,
    newOrigin: () => 'origin',
    effects: {
      ended: (session) => {
        kept.delete(session.key.clientId)
        leases.end(session)
      },
      ...{ publishWill: nothing, changed: nothing },
    },
  })
  const access = {
    accountOf: () => undefined,
    accountNamed: () => account,
    failed: () => 0,
    on: () => nothing,
  }
  const resuming = new Resuming(mqttLimits, { ...modules, access, sessions, leases })
  resuming.start()
  /** Its client is back. */
  const connect = (clientId: string) => {
    const link = { wake: nothing, takeOver: nothing }
    const { session } = sessions.connect(
      { account: 'a', clientId },
      { ...{ cleanStart: false, expiryS: 60, receiveMaximum: 10, will: undefined, link, own } },
    )
    return session
  }
  const paths = () => opened.map(({ path }) => path)
  return { clock, opened, paths, connect, leases, client, account, kept, counters: modules.counters }
}

it('leaves out what a client that is back has given up, or replaced, meanwhile', async () => {
  const first = Promise.withResolvers<void>()
  const filters = { c: ['first', 'given-up', 'replaced', 'last'] }
  const { paths, connect } = start(filters, (path) => (path === 'first' ? first.promise : undefined))
  await expect.poll(paths).toEqual(['first'])
  const session = connect('c')
  session.subscriptions.delete('given-up')
  const replacing: SessionSubscription = {
    ...{ session, name: 'replaced', filter: filterOf('other', own), options: qos1, sinceMs: 0 },
  }
  session.subscriptions.set('replaced', replacing)
  first.resolve()
  await expect.poll(paths).toEqual(['first', 'last'])
})

it('gives what was missed to each session, though one is subscribed again later than others', async () => {
  const slow = Promise.withResolvers<void>()
  const { opened, paths, connect } = start({ one: ['shared'], two: ['slow', 'shared'] }, (path) =>
    path === 'slow' ? slow.promise : undefined,
  )
  await expect.poll(paths).toEqual(['shared', 'slow'])
  opened[0]?.pass()
  expect(['one', 'two'].map((clientId) => connect(clientId).outbox.queued)).toEqual([1, 1])
  slow.resolve()
})

it('gives what was missed to each session, though another client opens the feed first', async () => {
  const acquired = Promise.withResolvers<void>()
  const started = start({ one: ['shared'] }, undefined, acquired.promise)
  const { opened, paths, connect, leases, client, account } = started
  const session = connect('new')
  const { feeds } = leases.begin(session, { account, client, release: nothing })
  const filter = filterOf('shared', own)
  const subscription: SessionSubscription = { session, name: 'shared', filter, options: qos1, sinceMs: 5 }
  session.subscriptions.set('shared', subscription)
  const added = feeds.add(subscription)
  expect(paths()).toEqual([])
  acquired.resolve()
  await expect.poll(paths).toEqual(['shared'])
  opened[0]?.pass()
  await added
  expect(connect('one').outbox.queued).toBe(1)
  expect(session.outbox.queued).toBe(0)
})

it('goes on with what was missed of a stream that cannot be subscribed to at first, and at once with others', async () => {
  let fails = true
  const { clock, opened } = start({ c: ['refused', 'other'] }, (path) =>
    fails && path === 'refused' ? Promise.reject(new Error('no chain')) : undefined,
  )
  const subscribed = () => opened.map(({ path, hasMissed }) => [path, hasMissed])
  await expect.poll(subscribed).toEqual([
    ['refused', true],
    ['other', true],
  ])
  fails = false
  await Promise.resolve()
  clock.advanceBy(mqttLimits.resumeAgainMs)
  await expect.poll(() => subscribed().slice(2)).toEqual([['refused', true]])
})

it('keeps no session that there is no room for', async () => {
  const filters = { one: ['t'], two: ['t'], three: ['u'] }
  const { kept, paths, counters } = start(filters, undefined, undefined, {
    ...mqttLimits,
    maxAwaySessions: 1,
  })
  await expect.poll(paths).toEqual(['t'])
  expect([[...kept], counters.restoredSessions]).toEqual([['one'], 1])
})
