import type { RunnelClient, Subscription } from '@runnel/client'
import { toNodeId } from '@runnel/protocol'
import { VirtualClock } from '@runnel/transport'
import { expect, it } from 'vitest'
import { newDirectory } from '../../cli.testkit.ts'
import type { GatewayAccount } from '../access/account.ts'
import { Sessions } from './core/sessions.ts'
import { qos1 } from './core/subscriptions.testkit.ts'
import { filterOf } from './core/topics.ts'
import { newCounters } from './counters.ts'
import { SessionFile } from './keeping/session-file.ts'
import { SessionKeeper } from './keeping/session-keeper.ts'
import { Leases } from './leases.ts'
import { mqttLimits } from './limits.ts'

const own = toNodeId(`0x${'a'.repeat(40)}`)
const nothing = () => {}

it('keep how far the sessions of each key are, though several keys act for one user', async () => {
  const clock = new VirtualClock()
  const counters = newCounters()
  const logger = { warn: nothing, error: nothing }
  const file = SessionFile.open(newDirectory())
  const keeper = new SessionKeeper(mqttLimits, { file, clock, logger, counters })
  const leases = new Leases(mqttLimits, {
    ...{ clock, logger, counters, keeper, delivered: nothing, joined: () => undefined },
  })
  const sessions = new Sessions(mqttLimits, {
    ...{ totals: counters, newOrigin: () => 'origin' },
    effects: {
      ended: (session) => leases.end(session),
      publishWill: nothing,
      changed: (session, waitsMs) => keeper.changed(session, waitsMs),
    },
  })
  const subscribed = { caughtUp: async () => {}, unsubscribe: nothing } as unknown as Subscription
  const begin = async (name: string, identity: string) => {
    const client = { account: own, subscribe: async () => subscribed } as unknown as RunnelClient
    const link = { wake: nothing, takeOver: nothing }
    const request = { cleanStart: false, expiryS: 60, receiveMaximum: 10, will: undefined, link, own }
    const { session } = sessions.connect({ account: name, clientId: 'c' }, request)
    const account = { name, userId: own, identity } as unknown as GatewayAccount
    const { feeds } = leases.begin(session, { account, client, release: nothing })
    const subscription = { session, name: 't', filter: filterOf('t', own), options: qos1, sinceMs: 0 }
    session.subscriptions.set('t', subscription)
    await feeds.add(subscription)
  }
  await begin('a', '')
  await begin('b', 'b.delegation')
  keeper.flush()
  const kept = file.feeds().size
  sessions.endAccount('b')
  keeper.flush()
  expect([kept, file.feeds().size]).toEqual([2, 1])
  keeper.close()
})
