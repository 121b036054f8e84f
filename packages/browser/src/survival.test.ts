import { createClient, type RunnelClient } from '@runnel/client'
import type { Tracker } from '@runnel/tracker'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '@runnel/transport'
import { TcpProxy } from '../../transport/src/ws/tcp-proxy.testkit.ts'
import { networkOf, startTracker } from './network.testkit.ts'
import type { Driver } from './tab-driver.testkit.ts'
import { driverLoaded, Tabs, value } from './tabs.testkit.ts'

let tabs: Tabs
let tracker: Tracker
let streams = 0
beforeAll(async () => {
  ;[tabs, tracker] = await Promise.all([Tabs.start(), startTracker()])
})
const clients: RunnelClient[] = []
afterEach(() => Promise.all(clients.splice(0).map((client) => client.close())))
afterAll(async () => {
  await tabs.close()
  await tracker.stop()
})

const newStreamId = (): string => `0x${'b'.repeat(40)}/stream${streams++}`

/** A node of Node, which publishes. */
async function publisherIn(
  streamId: string,
  transports: Parameters<typeof createClient>[0]['transports'] = {},
): Promise<RunnelClient> {
  const client = await createClient({ network: networkOf(tracker, streamId), transports })
  clients.push(client)
  await client.subscribe(streamId)
  return client
}

/** Resolves when a client has so many neighbours. */
async function neighbours(client: RunnelClient, count: number): Promise<void> {
  const statuses = client.status()
  const [part] = client.network.metrics().streamParts
  if (part?.neighbours.length === count) return
  for await (const status of statuses) {
    if (status.type === 'neighbours' && status.neighbours.length === count) return
  }
  throw new Error('the client closed')
}

/** What `countDials` leaves in a page. */
interface DialCount {
  readonly dials: { sinceOnline: number }
}

/** Counts the WebSockets that a page opens after each event `online`. */
async function countDials(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const dials = { sinceOnline: 0 }
    addEventListener('online', () => (dials.sinceOnline = 0))
    const counted = class extends WebSocket {
      constructor(url: string | URL) {
        super(url)
        dials.sinceOnline++
      }
    }
    Object.assign(globalThis, { dials, WebSocket: counted })
  })
}

const numbered = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i)

async function publishAll(
  client: RunnelClient,
  streamId: string,
  contents: readonly number[],
): Promise<void> {
  for (const content of contents) await client.publish(streamId, content)
}

describe('a tab', () => {
  it('gets what it missed while it slept, and was given up by its neighbours', async () => {
    const streamId = newStreamId()
    const publisher = await publisherIn(streamId)
    const tab = await tabs.open()
    await value(tab.open({ network: networkOf(tracker, streamId) }))
    await value(tab.subscribe(streamId))
    await Promise.all([tab.neighbours(1), neighbours(publisher, 1)])
    await publishAll(publisher, streamId, numbered(0, 5))
    await tab.received(5)
    const gone = neighbours(publisher, 0)
    const wake = await tabs.sleep()
    await gone
    await publishAll(publisher, streamId, numbered(5, 25))
    wake()
    await publishAll(publisher, streamId, numbered(25, 30))
    expect(await tab.received(30)).toEqual(numbered(0, 30))
  })

  it('comes back when its network does, and gets what it missed', async () => {
    const streamId = newStreamId()
    const toTracker = await TcpProxy.to(Number(new URL(tracker.url).port))
    const port = await freePort()
    const toPublisher = await TcpProxy.to(port)
    const listen = { host: '127.0.0.1', port, publicUrl: toPublisher.url }
    const publisher = await publisherIn(streamId, { websocket: { listen }, webrtc: false })
    const tab = await tabs.open()
    await value(tab.open({ network: networkOf({ nodeId: tracker.nodeId, url: toTracker.url }, streamId) }))
    await value(tab.subscribe(streamId))
    await Promise.all([tab.neighbours(1), neighbours(publisher, 1)])
    await publishAll(publisher, streamId, numbered(0, 5))
    await tab.received(5)
    await tab.page.context().setOffline(true)
    const gone = neighbours(publisher, 0)
    toTracker.cut()
    toPublisher.cut()
    await gone
    await tab.status({ type: 'tracker', state: 'disconnected', code: 'OFFLINE' })
    await publishAll(publisher, streamId, numbered(5, 25))
    await tab.page.context().setOffline(false)
    await publishAll(publisher, streamId, numbered(25, 30))
    expect(await tab.received(30)).toEqual(numbered(0, 30))
    await Promise.all([toTracker.stop(), toPublisher.stop()])
  })

  it('dials its tracker at once when the browser says that it is online again', async () => {
    const streamId = newStreamId()
    const toTracker = await TcpProxy.to(Number(new URL(tracker.url).port))
    const tab = await tabs.open({ prepare: countDials })
    await value(tab.open({ network: networkOf({ nodeId: tracker.nodeId, url: toTracker.url }, streamId) }))
    await value(tab.subscribe(streamId))
    await tab.status({ type: 'tracker', state: 'connected' })
    await tab.page.context().setOffline(true)
    toTracker.cut()
    await tab.status({ type: 'tracker', state: 'disconnected', code: 'OFFLINE' })
    // This listener comes after the client's, as countDials' comes before it.
    const dialledInTheEvent = tab.page.evaluate(
      () =>
        new Promise((resolve) => {
          const { dials } = globalThis as unknown as DialCount
          addEventListener('online', () => resolve(dials.sinceOnline), { once: true })
        }),
    )
    await tab.page.context().setOffline(false)
    expect(await dialledInTheEvent).toBe(1)
    await tab.close()
    await toTracker.stop()
  })

  it('is the same user after a reload, and goes on', async () => {
    const streamId = newStreamId()
    const publisher = await publisherIn(streamId)
    const tab = await tabs.open()
    const enter = async (): Promise<string> => {
      const privateKey = await value(tab.storedKey())
      const userId = await value(tab.open({ network: networkOf(tracker, streamId), privateKey }))
      await value(tab.subscribe(streamId))
      await tab.neighbours(1)
      return userId
    }
    const userId = await enter()
    await publisher.publish(streamId, 'before')
    expect(await tab.received(1)).toEqual(['before'])
    await tab.page.reload()
    await driverLoaded(tab.page)
    expect(await enter()).toBe(userId)
    await publisher.publish(streamId, 'after')
    // What was published just before it came may be replayed to it.
    expect(['after', 'before,after']).toContain(String(await tab.receivedUpTo('after')))
  })

  it('loses nothing that it published, if it closes its client before it is left', async () => {
    const streamId = newStreamId()
    const publisher = await publisherIn(streamId)
    const received: unknown[] = []
    const { promise: all, resolve } = Promise.withResolvers<void>()
    await publisher.subscribe(streamId, {}, ({ content }) => {
      if (received.push(content) === 30) resolve()
    })
    const tab = await tabs.open()
    await value(tab.open({ network: networkOf(tracker, streamId) }))
    await value(tab.subscribe(streamId))
    await tab.neighbours(1)
    const contents = numbered(0, 30).map((n) => `${n} ${'x'.repeat(10_000)}`)
    await tab.page.evaluate(
      async ([streamId, contents]) => {
        const { driver } = globalThis as unknown as { driver: Driver }
        await Promise.all(contents.map((content) => driver.publish(streamId, content)))
        await driver.close()
        location.reload()
      },
      [streamId, contents] as const,
    )
    await all
    expect(received).toEqual(contents)
  })

  it('has the same key as another tab that is open', async () => {
    const context = await tabs.browser.newContext()
    const [first, second] = [await tabs.open({ context }), await tabs.open({ context })]
    const keys = await Promise.all([value(first.storedKey()), value(second.storedKey())])
    expect(keys[0]).toBe(keys[1])
    await second.page.reload()
    await driverLoaded(second.page)
    expect(await value(second.storedKey())).toBe(keys[0])
    await context.close()
  })
})
