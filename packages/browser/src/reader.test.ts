import { createClient } from '@runnel/client'
import type { NetworkSource } from '@runnel/client/browser'
import type { Tracker } from '@runnel/tracker'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort } from '@runnel/transport'
import { newAccount, take } from '../../client/src/client.testkit.ts'
import { startTracker } from './network.testkit.ts'
import { startStorage, type TestStorage } from './storage.testkit.ts'
import { Tabs, value } from './tabs.testkit.ts'

const [owner, keeper, user] = [newAccount(), newAccount(), newAccount()]
const stream = `${owner.nodeId}/read`

let tabs: Tabs
let tracker: Tracker
let storage: TestStorage
let network: NetworkSource

beforeAll(async () => {
  const port = await freePort()
  ;[tabs, tracker] = await Promise.all([Tabs.start(), startTracker()])
  const storageNodes = [{ nodeId: keeper.nodeId, url: `ws://127.0.0.1:${port}` }]
  const permissions = [owner, user].map(({ nodeId }) => ({ user: nodeId, publish: true, subscribe: true }))
  const trackers = [{ nodeId: tracker.nodeId, url: tracker.url }]
  const streams = [{ id: stream, permissions, storageNodes }]
  network = { kind: 'static', document: { version: 1, trackers, streams } }
  storage = await startStorage({ network, privateKey: keeper.privateKey }, { port })
}, 60_000)
afterAll(async () => {
  await tabs.close()
  await storage.stop()
  await tracker.stop()
})

it('a durable reader goes on in a page where another page and Node were, in an encrypted stream', async () => {
  const publisher = await createClient({ network, privateKey: owner.privateKey })
  const node = await createClient({ network, privateKey: user.privateKey })
  try {
    await node.ensureCard()
    const sent = []
    for (let i = 0; i < 6; i++) sent.push(await publisher.publish(stream, i))
    await publisher.waitForStorage(sent)
    const read = async (count: number) => {
      const page = await tabs.open()
      await value(page.open({ network, privateKey: user.privateKey }))
      const contents = await value(page.readDurably(stream, 'work', count))
      await page.close()
      return contents
    }
    expect(await read(2)).toEqual([0, 1])
    const reader = await node.reader(stream, { name: 'work' })
    const messages = await take(reader, 2)
    expect(messages.map(({ content }) => content)).toEqual([2, 3])
    for (const message of messages) message.ack()
    await reader.close()
    expect(await read(2)).toEqual([4, 5])
  } finally {
    await Promise.all([publisher.close(), node.close()])
  }
}, 120_000)
