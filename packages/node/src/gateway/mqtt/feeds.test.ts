import { clientError, type RunnelClient, type Subscription, type SubscribeOptions } from '@runnel/client'
import { toNodeId } from '@runnel/protocol'
import { VirtualClock } from '@runnel/transport'
import { expect, it } from 'vitest'
import type { SessionSubscription } from './core/session.ts'
import { qos1 } from './core/subscriptions.testkit.ts'
import { filterOf } from './core/topics.ts'
import { Feeds } from './feeds.ts'
import { FeedPlaces } from './keeping/feed-places.ts'
import { mqttLimits } from './limits.ts'

const own = toNodeId(`0x${'a'.repeat(40)}`)

/** A feed that the node before this one had, for a client whose subscriptions go as they are told to. */
function open() {
  const clock = new VirtualClock()
  const tries: { fails: boolean; options: SubscribeOptions }[] = []
  const world = { clock, tries, ended: 0, revoked: 0, failed: 0, fails: false }
  const opened = {
    unsubscribe: () => void world.ended++,
    caughtUp: () => new Promise(() => {}),
  } as unknown as Subscription
  const subscribe = (_target: string, options: SubscribeOptions) => {
    tries.push({ fails: world.fails, options })
    return world.fails ? Promise.reject(new Error('no chain')) : Promise.resolve(opened)
  }
  const places = new FeedPlaces({ heardMs: 0, places: new Map() }, { nowMs: 1, onChanged: () => {} })
  const feeds = new Feeds({ subscribe } as unknown as RunnelClient, mqttLimits, {
    clock,
    events: {
      ...{ maySee: () => true, delivered: () => {}, closed: () => {}, missed: () => {} },
      ...{
        places: () => places,
        wasKept: () => true,
        joined: () => undefined,
        ended: () => void world.revoked++,
        failed: () => void world.failed++,
      },
    },
  })
  const session = { journal: {} } as SessionSubscription['session']
  const subscription: SessionSubscription = {
    ...{ session, name: 't', filter: filterOf('t', own), options: qos1, sinceMs: 0 },
  }
  /** Lets the time pass after which it is tried again. */
  const later = async () => {
    clock.advanceBy(mqttLimits.resumeAgainMs)
    await Promise.resolve()
    await Promise.resolve()
  }
  return { ...world, world, feeds, subscription, later }
}

it('reads what was missed again until it is read, also where it cannot subscribe meanwhile', async () => {
  const { world, feeds, subscription, later, tries } = open()
  await feeds.add(subscription)
  tries[0]?.options.onHistoryFailed?.(new Error('no storage node'))
  world.fails = true
  await later()
  await later()
  world.fails = false
  await later()
  await later()
  expect(tries.map(({ fails }) => fails)).toEqual([false, true, true, false])
  expect([world.failed, world.ended]).toEqual([3, 1])
})

it('does not go on when nobody has it any more', async () => {
  const { feeds, subscription, later, tries, world } = open()
  await feeds.add(subscription)
  feeds.remove(subscription)
  tries[0]?.options.onHistoryFailed?.(new Error('no storage node'))
  await later()
  expect([tries.length, world.failed]).toEqual([1, 0])
})

it('subscribes again once its user may read again', async () => {
  const { world, feeds, subscription, later, tries } = open()
  await feeds.add(subscription)
  tries[0]?.options.onEnded?.(clientError('NO_SUBSCRIBE_PERMISSION'))
  world.fails = true
  await later()
  world.fails = false
  await later()
  await later()
  expect(tries.map(({ fails }) => fails)).toEqual([false, true, false])
  expect(world.revoked).toBe(1)
})
