import { createClient, type RunnelClient } from '@runnel/client'
import type { Tracker } from '@runnel/tracker'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { networkOf, startTracker } from './network.testkit.ts'
import { Tabs, value, type Tab } from './tabs.testkit.ts'

const streamId = `0x${'a'.repeat(40)}/mixed`

let tabs: Tabs
let tracker: Tracker
const clients: RunnelClient[] = []
beforeAll(async () => {
  ;[tabs, tracker] = await Promise.all([Tabs.start(), startTracker()])
})
afterAll(async () => {
  await tabs.close()
  await Promise.all(clients.map((client) => client.close()))
  await tracker.stop()
})

const network = () => networkOf(tracker, streamId)

describe('an overlay of pages and Node', () => {
  it('has every kind of link, and each member gets what every member publishes', async () => {
    const reachable = await createClient({
      network: network(),
      transports: { websocket: { listen: { host: '127.0.0.1', port: 0 } }, webrtc: false },
    })
    const hidden = await createClient({ network: network() })
    clients.push(reachable, hidden)
    const received = clients.map(() => [] as unknown[])
    const complete = clients.map(async (client, index) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      await client.subscribe(streamId, {}, ({ content }) => {
        if (received[index]?.push(content) === 4) resolve()
      })
      return { promise }
    })
    const [first, second] = [await tabs.open(), await tabs.open({ build: 'single' })]
    const idOf = new Map<Tab, string>()
    for (const tab of [first, second]) {
      idOf.set(tab, await value(tab.open({ network: network() })))
      await tab.subscribe(streamId)
    }
    // Of four nodes each has the three others as neighbours.
    const neighbours = await first.neighbours(3)
    await second.neighbours(3)
    expect(new Map(neighbours.map(({ nodeId, transport }) => [nodeId, transport]))).toEqual(
      new Map([
        [reachable.nodeId, 'websocket'],
        [hidden.nodeId, 'webrtc'],
        [idOf.get(second), 'webrtc'],
      ]),
    )
    const sent = [
      'from the first page',
      'from the second page',
      'from the reachable node',
      'from the hidden node',
    ]
    for (const [index, member] of [first, second, reachable, hidden].entries()) {
      await member.publish(streamId, sent[index])
    }
    await Promise.all(complete.map(async (part) => (await part).promise))
    for (const contents of [...received, await first.received(4), await second.received(4)]) {
      expect(contents.toSorted()).toEqual(sent.toSorted())
    }
    expect(tabs.errors).toEqual([])
  })
})
