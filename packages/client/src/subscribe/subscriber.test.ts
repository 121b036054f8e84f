import { toNodeId, toStreamId } from '@runnel/protocol'
import { VirtualClock } from '@runnel/transport'
import { expect, it } from 'vitest'
import type { PartUse } from '../stream-parts.ts'
import { StatusHub } from '../status.ts'
import { Subscriber, type SubscriberModules } from './subscriber.ts'

const id = toStreamId(`${toNodeId(`0x${'1'.repeat(40)}`)}/a`)
/** Promises have no clock: all that is due now is done. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

it('takes in partitions of which it was told while it still asked where the stream is stored', async () => {
  let partitions = 1
  const stored = Promise.withResolvers<readonly []>()
  const joined: unknown[] = []
  const modules = {
    ...{ clock: new VirtualClock({ startMs: 0 }), status: new StatusHub() },
    user: { userId: toNodeId(`0x${'2'.repeat(40)}`), delegation: undefined, require: () => {} },
    cache: {
      getStream: () => Promise.resolve({ id, partitions, trackers: [], metadata: '{}', createdMs: 0 }),
      permissionsOf: () => Promise.resolve({ publishUntilMs: 0, subscribeUntilMs: Infinity }),
      storageNodesOf: () => stored.promise,
    },
    parts: {
      join: (_: unknown, partition: number, { lookBackMs }: PartUse) => {
        joined.push([partition, lookBackMs])
        return () => {}
      },
    },
  } as unknown as SubscriberModules
  const limits = { waitForNeighboursMs: 0, maxQueuedMessages: 10, maxQueuedBytes: 1_000 }
  const subscriber = new Subscriber(limits, modules)
  const subscribing = subscriber.subscribe(id, { resend: { last: 1 }, resendWhereStored: true }, undefined)
  await settled()
  partitions = 2
  subscriber.streamsChanged(id)
  stored.resolve([])
  const subscription = await subscribing
  await settled()
  expect(subscription.partitions).toEqual([0, 1])
  expect(joined).toEqual([
    [0, 0],
    [1, 60_000],
  ])
  await subscription.unsubscribe()
})
