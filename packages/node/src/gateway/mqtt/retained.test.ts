import type { Message, RunnelClient } from '@runnel/client'
import { expect, it } from 'vitest'
import { retainedKey } from './core/header-names.ts'
import type { SessionSubscription } from './core/session.ts'
import type { Delivery } from './core/to-mqtt.ts'
import { mqttLimits } from './limits.ts'
import { Retained } from './retained.ts'

const limits = { ...mqttLimits, maxRetainedLookups: 2, maxWaitingLookups: 3 }
const message = {
  ...{ streamId: 's', partition: 0, content: Buffer.from('x'), headers: {}, key: retainedKey },
} as unknown as Message

/** A subscription of an account, and what it is given. */
function subscriptionOf(account: string) {
  const got: Delivery[] = []
  const session = {
    key: { account, clientId: 'c' },
    subscriptions: new Map<string, unknown>(),
    deliver: (delivery: Delivery) => got.push(delivery),
  }
  const subscription = { session, name: 's', filter: { target: 's' } } as unknown as SessionSubscription
  session.subscriptions.set('s', subscription)
  return { subscription, got }
}

it('looks for so many at once for each account, and lets so many wait: one account does not hold up another', async () => {
  let skipped = 0
  const retained = new Retained(limits, {
    clock: { now: () => 0 },
    maySee: () => true,
    failed: (error) => expect(error).toBeUndefined(),
    skipped: (count) => (skipped += count),
  })
  const asked: ((found: Message) => void)[] = []
  const slow = { last: () => new Promise((resolve) => asked.push(resolve)) } as unknown as RunnelClient
  const quick = { last: () => Promise.resolve(message) } as unknown as RunnelClient
  const [one, other] = [subscriptionOf('one'), subscriptionOf('other')]
  for (let i = 0; i < 7; i++) retained.begin(slow, one.subscription)
  expect([asked.length, skipped]).toEqual([2, 2])
  retained.begin(quick, other.subscription)
  await expect.poll(() => other.got.length).toBe(1)
  for (let found = 1; found <= 5; found++) {
    asked[found - 1]?.(message)
    await expect.poll(() => one.got.length).toBe(found)
  }
  expect(skipped).toBe(2)
})
