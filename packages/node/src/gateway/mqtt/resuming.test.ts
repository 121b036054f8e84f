import type { RunnelClient, Subscription } from '@runnel/client'
import { toNodeId } from '@runnel/protocol'
import { VirtualClock } from '@runnel/transport'
import { expect, it } from 'vitest'
import type { GatewayAccount } from '../access/account.ts'
import { Sessions } from './core/sessions.ts'
import type { SessionJournal, SessionSubscription } from './core/session.ts'
import { filterOf } from './core/topics.ts'
import { newCounters } from './counters.ts'
import type { FoundSession, SessionKeeper } from './keeping/session-keeper.ts'
import { Leases } from './leases.ts'
import { mqttLimits } from './limits.ts'
import { Resuming } from './resuming.ts'

const own = toNodeId(`0x${'a'.repeat(40)}`)
const options = {
  qos: 1,
  noLocal: false,
  retainAsPublished: false,
  retainHandling: 0,
  subscriptionId: undefined,
} as const

it('leaves out what a client that is back has given up, or replaced, meanwhile', async () => {
  const opened: string[] = []
  const first = Promise.withResolvers<void>()
  const subscribe = async (target: string) => {
    opened.push(target)
    if (target.endsWith('/first')) await first.promise
    return { caughtUp: () => new Promise(() => {}), unsubscribe: () => {} } as unknown as Subscription
  }
  const client = { account: own, subscribe } as unknown as RunnelClient
  const account = {
    ...{ name: 'a', userId: own },
    acquire: () => Promise.resolve({ client, release: () => {} }),
  } as unknown as GatewayAccount
  const nothing = () => {}
  const journal: SessionJournal = { touched: nothing, changed: nothing, removed: nothing, flush: nothing }
  const names = ['first', 'given-up', 'replaced', 'last']
  const found: FoundSession = {
    ...{ key: { account: 'a', clientId: 'c' }, own, origin: 'origin', expiryS: 60, leftMs: 60_000 },
    subscriptions: names.map((name) => ({ name, options, sinceMs: 0 })),
    ...{ received: [], held: [], journal, drop: nothing },
  }
  const keeper = {
    ...{ start: () => [found], restored: nothing, forgetFeedsBut: nothing },
    ...{ feed: () => undefined, wasKept: () => false, feedClosed: nothing },
  } as unknown as SessionKeeper
  const modules = { clock: new VirtualClock(), logger: { warn: nothing }, counters: newCounters(), keeper }
  const leases = new Leases(mqttLimits, { ...modules, delivered: nothing })
  const sessions = new Sessions(mqttLimits, {
    totals: modules.counters,
    newOrigin: () => 'origin',
    effects: { ended: (session) => leases.end(session), publishWill: nothing, changed: nothing },
  })
  const access = {
    accountOf: () => undefined,
    accountNamed: () => account,
    failed: () => 0,
    on: () => nothing,
  }
  new Resuming(mqttLimits, { ...modules, access, sessions, leases }).start()
  await expect.poll(() => opened.length).toBe(1)

  const link = { wake: nothing, takeOver: nothing }
  const { session } = sessions.connect(found.key, {
    ...{ cleanStart: false, expiryS: 60, receiveMaximum: 10, will: undefined, link, own },
  })
  session.subscriptions.delete('given-up')
  const replacing: SessionSubscription = {
    ...{ session, name: 'replaced', filter: filterOf('other', own), options, sinceMs: 0 },
  }
  session.subscriptions.set('replaced', replacing)
  first.resolve()
  await expect.poll(() => opened).toEqual([`${own}/first`, `${own}/last`])
})
