import type { Delivery, NetworkNode } from '@runnel/network'
import { toStreamId, toStreamPartId, type MessageRef } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { describe, expect, it } from 'vitest'
import { newIdentity, take } from '../client.testkit.ts'
import { ContentSteps } from '../content/content-steps.ts'
import { Faults } from '../faults.ts'
import { StatusHub } from '../status.ts'
import { Subscriber } from './subscriber.ts'

const identity = newIdentity()
const streamId = toStreamId(`${identity.nodeId}/faults`)
const streamPartId = toStreamPartId(streamId, 0)
const stream = { id: streamId, partitions: 1, metadata: '{}', trackers: [], storageNodes: [] }

/** A subscriber whose node cannot always say what is missing, which only ordered subscriptions ask for. */
function setUp() {
  let isBroken = false
  const faults: unknown[] = []
  const isMissing = () => {
    if (isBroken) throw new Error('the node does not know')
    return true
  }
  const status = new StatusHub()
  const hub = new Faults({ logger: { info() {}, warn() {}, error: () => {} } })
  hub.onFault = (fault) => faults.push(fault)
  const subscriber = new Subscriber({ waitForNeighboursMs: 0, maxQueuedMessages: 100, maxQueuedBytes: 1e6 }, {
    node: { isMissing } as unknown as NetworkNode,
    cache: {
      getStream: () => Promise.resolve(stream),
      permissionsOf: () => Promise.resolve({ subscribeUntilMs: Infinity }),
    },
    parts: { join: () => () => {} },
    ...{ user: { userId: identity.nodeId, require: () => {} }, clock: systemClock, status, faults: hub, history: {} },
    steps: new ContentSteps([], new AbortController().signal),
  } as never)
  return { subscriber, faults, status, breakIt: (broken: boolean) => void (isBroken = broken) }
}

let last: MessageRef | undefined
function message(timestamp: number, previous = last): Delivery {
  const content = new TextEncoder().encode(`${timestamp}`)
  const chain = { streamId, partition: 0, publisherId: identity.nodeId, messageChainId: 'c' }
  const place = { timestamp, sequenceNumber: 0 }
  last = place
  const rest = { previous, contentType: 2, encryptionType: 0, groupKeyId: '', content }
  return { streamPartId, message: { ...chain, ...place, ...rest }, from: undefined }
}

const contents = (messages: readonly { readonly content: unknown }[]) =>
  messages.map(({ content }) => content)

describe('a fault in the work of a subscription', () => {
  it('touches no other, and it goes on itself', async () => {
    last = undefined
    const { subscriber, faults, breakIt } = setUp()
    const ordered = await subscriber.subscribe(streamId, {}, undefined)
    const plain = await subscriber.subscribe(streamId, { order: 'arrival' }, undefined)
    subscriber.receive(message(1))
    // One is missing in between: what comes is held back.
    last = { timestamp: 2, sequenceNumber: 0 }
    subscriber.receive(message(3))
    breakIt(true)
    last = { timestamp: 4, sequenceNumber: 0 }
    subscriber.receive(message(5))
    expect(faults).toEqual([{ streamPartId, error: new Error('the node does not know') }])
    breakIt(false)
    subscriber.receive(message(6))
    expect(contents(await take(plain, 4))).toEqual(['1', '3', '5', '6'])
    expect(plain.counters().faults).toBe(0)
    expect(ordered.counters().faults).toBe(faults.length)
    await ordered.unsubscribe()
    expect(contents(await take(ordered, ordered.counters().received)).at(-1)).toBe('6')
  })

  it('is not what a callback for gaps throws', async () => {
    last = undefined
    const { subscriber, faults, status } = setUp()
    const statuses = status.listen()
    const seen: unknown[] = []
    const onGap = () => {
      throw new Error('no gaps here')
    }
    await subscriber.subscribe(streamId, { order: 'arrival', onGap }, undefined)
    await subscriber.subscribe(streamId, { order: 'arrival', onGap: (gap) => seen.push(gap) }, undefined)
    const place = { timestamp: 1, sequenceNumber: 0 }
    const chain = { streamId, partition: 0, publisherId: identity.nodeId, messageChainId: 'c' }
    subscriber.gap({ streamPartId, chain, after: place, upTo: { ...place, timestamp: 2 } })
    expect([faults, seen.length]).toEqual([[], 1])
    const types = (await take(statuses as AsyncIterable<{ type: string }>, 2)).map(({ type }) => type)
    expect(types).toEqual(['gap', 'callback-failed'])
  })
})
