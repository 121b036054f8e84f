import { createClient, type RunnelClient } from '@runnel/client'
import type { NetworkSource } from '@runnel/client/browser'
import type { Tracker } from '@runnel/tracker'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '@runnel/transport'
import { newAccount, take } from '../../client/src/client.testkit.ts'
import { Firefox } from './firefox.testkit.ts'
import { startTracker } from './network.testkit.ts'
import { startStorage, type TestStorage } from './storage.testkit.ts'
import { Tabs, value, type DrivenPage } from './tabs.testkit.ts'

const [owner, keeper] = [newAccount(), newAccount()]
const browsers = ['Chromium', 'Firefox'] as const
/** Each browser has its own user and streams. */
const readers = { Chromium: newAccount(), Firefox: newAccount() }
const streamsOf = (browser: string) => ({
  live: `${owner.nodeId}/${browser}/live`,
  stored: `${owner.nodeId}/${browser}/stored`,
})

let tabs: Tabs
let firefox: Firefox
let tracker: Tracker
let storage: TestStorage
let network: Extract<NetworkSource, { readonly document: unknown }>
const clients: RunnelClient[] = []

beforeAll(async () => {
  const port = await freePort()
  ;[tabs, firefox, tracker] = await Promise.all([Tabs.start(), Firefox.launch(), startTracker()])
  const storageNodes = [{ nodeId: keeper.nodeId, url: `ws://127.0.0.1:${port}` }]
  const streams = browsers.flatMap((browser) => {
    const users = [owner.nodeId, readers[browser].nodeId]
    const permissions = users.map((user) => ({ user, publish: true, subscribe: true }))
    return Object.values(streamsOf(browser)).map((id) => ({ id, permissions, storageNodes }))
  })
  const trackers = [{ nodeId: tracker.nodeId, url: tracker.url }]
  network = { kind: 'static', document: { version: 1, trackers, streams } }
  storage = await startStorage({ network, privateKey: keeper.privateKey }, { port })
}, 60_000)
afterEach(() => Promise.all(clients.splice(0).map((client) => client.close())))
afterAll(async () => {
  await Promise.all([tabs.close(), firefox.close()])
  await storage.stop()
  await tracker.stop()
})

async function clientOf({ privateKey }: { readonly privateKey: string }): Promise<RunnelClient> {
  const client = await createClient({ network, privateKey })
  clients.push(client)
  return client
}

describe.each(browsers)('a page in %s', { timeout: 60_000 }, (browser) => {
  const reader = readers[browser]
  const streams = streamsOf(browser)

  async function openPage(): Promise<DrivenPage> {
    const page = await (browser === 'Firefox' ? tabs.openFirefox(firefox) : tabs.open())
    await value(page.open({ network, privateKey: reader.privateKey }))
    return page
  }

  it('has the card that its user has in Node', async () => {
    const page = await openPage()
    const { publicKey } = await (await clientOf(reader)).ensureCard()
    expect(await value(page.ensureCard())).toBe(Buffer.from(publicKey).toString('hex'))
    await page.close()
  })

  it('exchanges messages with Node that are encrypted on their way', async () => {
    const client = await clientOf(owner)
    const travelled: { readonly encryptionType: number; readonly text: string }[] = []
    client.network.on('message', ({ message: { partition, encryptionType, content } }) => {
      if (partition === 0) travelled.push({ encryptionType, text: Buffer.from(content).toString('latin1') })
    })
    const heard = await client.subscribe(streams.live)
    const page = await openPage()
    await value(page.subscribe(streams.live))
    await page.neighbours(2)
    await client.publish(streams.live, 'from Node')
    await value(page.publish(streams.live, 'from the page'))
    const both = ['from Node', 'from the page']
    expect((await page.received(2)).toSorted()).toEqual(both)
    expect((await take(heard, 2)).map(({ content }) => content).toSorted()).toEqual(both)
    expect(travelled.map(({ encryptionType }) => encryptionType)).toEqual([2, 2])
    expect(travelled.some(({ text }) => text.includes('from'))).toBe(false)
    await page.close()
  })

  it('reads what a storage node has, while the publisher is away', async () => {
    const before = await openPage()
    await value(before.ensureCard())
    await before.close()
    const publisher = await clientOf(owner)
    const sent = [await publisher.publish(streams.stored, 'one'), await publisher.publish(streams.stored, 2)]
    await publisher.waitForStorage(sent)
    await publisher.close()
    const page = await openPage()
    expect(await value(page.history(streams.stored, 10))).toEqual(['one', 2])
    await page.close()
  })
})
