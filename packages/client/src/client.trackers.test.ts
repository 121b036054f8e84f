import type { Tracker } from '@runnel/tracker'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { Clients, newIdentity, nextStatus, startTracker, take } from './client.testkit.ts'
import type { RunnelClient } from './index.ts'
import { mined, startTestChain, type TestChain } from './registry/chain.testkit.ts'

let chain: TestChain
let clients: Clients
const trackers: Tracker[] = []

async function start(identity = newIdentity()): Promise<Tracker> {
  const tracker = await startTracker(identity)
  trackers.push(tracker)
  return tracker
}

const connected = (client: RunnelClient, { nodeId }: Tracker) =>
  nextStatus(client, 'tracker', ({ trackerId, state }) => trackerId === nodeId && state === 'connected')

/** A publisher and a subscriber of a new stream, and a way to see that messages still go from one to the other. */
async function talkers(path: string) {
  const publisher = await clients.create({ privateKey: chain.accounts[1].privateKey })
  const subscriber = await clients.create({ privateKey: chain.accounts[2].privateKey })
  const { id } = await publisher.createStream({ path })
  await publisher.grant(id, { user: 'public', permissions: ['subscribe'] })
  const subscription = await subscriber.subscribe(id)
  let sent = 0
  const talk = async () => {
    await publisher.publish(id, ++sent)
    const [message] = await take(subscription, 1)
    expect(message?.content).toBe(sent)
  }
  await talk()
  return { publisher, subscriber, talk }
}

beforeAll(async () => {
  chain = await startTestChain()
  clients = new Clients({
    network: { kind: 'chain', rpcUrl: chain.url, chainId: 31337, registries: chain.registries },
    registry: { pollIntervalMs: 20 },
  })
})
afterEach(() => clients.closeAll())
afterAll(async () => {
  await Promise.all(trackers.map((tracker) => tracker.stop()))
  await chain.stop()
})

it('clients follow the registry: a tracker moves, another is added, the first removed, then all', async () => {
  const identity = newIdentity()
  const first = await start(identity)
  await mined(chain.trackers.addTracker(first.nodeId, first.url, ''))
  const { publisher, subscriber, talk } = await talkers('followed')

  const elsewhere = await start(identity)
  expect(elsewhere.url).not.toBe(first.url)
  const moved = [publisher, subscriber].map((client) => connected(client, elsewhere))
  await mined(chain.trackers.updateTracker(first.nodeId, elsewhere.url, ''))
  await Promise.all(moved)
  await first.stop()
  await talk()

  const second = await start()
  await mined(chain.trackers.addTracker(second.nodeId, second.url, ''))
  const replaced = [publisher, subscriber].map((client) => connected(client, second))
  await mined(chain.trackers.removeTracker(first.nodeId))
  await Promise.all(replaced)
  await elsewhere.stop()
  await talk()

  const missing = nextStatus(subscriber, 'trackers')
  await mined(chain.trackers.removeTracker(second.nodeId))
  expect(await missing).toMatchObject({ state: 'missing', kept: 1 })
  await talk()
  const listed = nextStatus(subscriber, 'trackers')
  await mined(chain.trackers.addTracker(second.nodeId, second.url, ''))
  expect(await listed).toMatchObject({ state: 'listed' })
  await talk()
  await mined(chain.trackers.removeTracker(second.nodeId))
})

it('clients go past trackers with a wrong key or URL, in whatever order they stand', async () => {
  const good = await start()
  const impostor = await start()
  const nobody = newIdentity()
  await mined(chain.trackers.addTracker(newIdentity().nodeId, impostor.url, ''))
  await mined(chain.trackers.addTracker(nobody.nodeId, 'ws://127.0.0.1:1', ''))
  await mined(chain.trackers.addTracker(good.nodeId, good.url, ''))
  for (const path of ['one', 'two', 'three', 'four', 'five', 'six']) {
    const { talk } = await talkers(path)
    await talk()
    await clients.closeAll()
  }
})
