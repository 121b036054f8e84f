import { createClient, type RunnelClient } from '@runnel/client'
import { addressOf } from '@runnel/protocol'
import type { Tracker } from '@runnel/tracker'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { networkOf, startTracker } from './network.testkit.ts'
import type { Driver } from './tab-driver.testkit.ts'
import { Tabs, value } from './tabs.testkit.ts'

const streamId = `0x${'b'.repeat(40)}/light`
let tabs: Tabs
let tracker: Tracker
beforeAll(async () => {
  ;[tabs, tracker] = await Promise.all([Tabs.start(), startTracker()])
})
const clients: RunnelClient[] = []
afterEach(() => Promise.all(clients.splice(0).map((client) => client.close())))
afterAll(async () => {
  await tabs.close()
  await tracker.stop()
})

async function start(serve: boolean): Promise<RunnelClient> {
  const transports = { websocket: { listen: { host: '127.0.0.1', port: 0 } }, webrtc: false } as const
  const client = await createClient({ network: networkOf(tracker, streamId), transports, guests: { serve } })
  clients.push(client)
  return client
}

it('takes part through two nodes, without WebRTC and without a tracker, and misses nothing when one ends', async () => {
  const hosts = [await start(true), await start(true)]
  const member = await start(false)
  const got: unknown[] = []
  const all = Promise.withResolvers<undefined>()
  await member.subscribe(streamId, {}, ({ content, publisherId }) => {
    if (publisherId === member.userId) return
    got.push(content)
    if (got.length === 40) all.resolve(undefined)
  })
  const urls = hosts.map(({ network }) => addressOf(network.contact, 'websocket') ?? '')
  const tab = await tabs.open({
    prepare: async (page) => {
      await page.addInitScript(() => Reflect.deleteProperty(globalThis, 'RTCPeerConnection'))
    },
  })
  const network = networkOf(tracker, streamId)
  const document = { ...network.document, trackers: [] }
  const userId = await value(tab.open({ network: { ...network, document }, via: urls }))
  await value(tab.subscribe(streamId))
  await tab.neighbours(2)
  expect((await tab.hosts()).map(({ url }) => url)).toEqual(urls)
  const closing: Promise<unknown>[] = []
  for (let n = 0; n < 40; n++) {
    if (n === 20) closing.push(hosts[0]?.close() ?? expect.fail())
    await Promise.all([member.publish(streamId, n), value(tab.publish(streamId, `page ${n}`))])
  }
  const numbers = Array.from({ length: 40 }, (_, n) => n)
  const received = await tab.received(80)
  expect(received.filter((content) => typeof content === 'number')).toEqual(numbers)
  await all.promise
  expect(got).toEqual(numbers.map((n) => `page ${n}`))
  expect(userId).toMatch(/^0x/)
  expect((await tab.hosts()).map(({ url }) => url)).toEqual([urls[1]])
  await Promise.all(closing)
  await tab.close()
})

it('sends what is more than its link takes at once also while the browser holds back its timers, as of a page that nobody sees', async () => {
  const [host, member] = [await start(true), await start(false)]
  const lengths: number[] = []
  const all = Promise.withResolvers<undefined>()
  await member.subscribe(streamId, {}, ({ content }) => {
    if (lengths.push(String(content).length) === 20) all.resolve(undefined)
  })
  const tab = await tabs.open()
  const url = addressOf(host.network.contact, 'websocket') ?? ''
  await value(tab.open({ network: networkOf(tracker, streamId), via: [url] }))
  await value(tab.subscribe(streamId))
  await tab.neighbours(1)
  const published = await tab.page.evaluate(async (id) => {
    const { driver } = globalThis as unknown as { driver: Driver }
    Object.assign(globalThis, { setTimeout: () => 0 })
    return Promise.all(Array.from({ length: 20 }, () => driver.publish(id, 'x'.repeat(200_000))))
  }, streamId)
  expect(published.filter((outcome) => 'code' in outcome)).toEqual([])
  await all.promise
  expect(lengths).toEqual(Array(20).fill(200_000))
  await tab.close()
}, 60_000)
