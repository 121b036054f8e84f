import type { Tracker } from '@runnel/tracker'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type * as Runnel from './index.ts'
import { networkOf, startTracker } from './network.testkit.ts'
import { Tabs, value } from './tabs.testkit.ts'

const streamId = `0x${'c'.repeat(40)}/refusals`

let tabs: Tabs
let tracker: Tracker
beforeAll(async () => {
  ;[tabs, tracker] = await Promise.all([Tabs.start(), startTracker()])
})
afterAll(async () => {
  await tabs.close()
  await tracker.stop()
})

const without =
  (name: string) =>
  async (page: Page): Promise<void> => {
    await page.addInitScript((name) => Object.defineProperty(globalThis, name, { value: undefined }), name)
  }

describe('a page is told', () => {
  it('that there is no WebRTC, unless it wants none', async () => {
    const tab = await tabs.open({ prepare: without('RTCPeerConnection') })
    const network = networkOf(tracker, streamId)
    expect(await tab.open({ network })).toMatchObject({ code: 'NO_WEBRTC' })
    await value(tab.open({ network, transports: { webrtc: false } }))
    await value(tab.subscribe(streamId))
    await tab.status({ type: 'tracker', state: 'connected' })
  })

  it('that there is no WebSocket', async () => {
    const tab = await tabs.open({ prepare: without('WebSocket') })
    expect(await tab.open({ network: networkOf(tracker, streamId) })).toMatchObject({ code: 'NO_WEBSOCKET' })
  })

  it('that it cannot be dialled', async () => {
    const tab = await tabs.open()
    const transports = { websocket: { listen: { host: '127.0.0.1', port: 0 } } }
    const opened = tab.open({ network: networkOf(tracker, streamId), transports })
    expect(await opened).toMatchObject({ code: 'LISTEN_FAILED' })
  })

  it('that storage is blocked', async () => {
    const prepare = async (page: Page): Promise<void> => {
      await page.addInitScript(() => {
        const get = (): never => {
          throw new DOMException('blocked', 'SecurityError')
        }
        Object.defineProperty(globalThis, 'localStorage', { get })
      })
    }
    const tab = await tabs.open({ prepare })
    expect(await tab.storedKey()).toMatchObject({ code: 'STORAGE_BLOCKED' })
  })

  it('that it no longer waits for what another tab asks of its user', async () => {
    const tab = await tabs.open()
    const code = await tab.page.evaluate(async () => {
      const { runnel } = globalThis as unknown as { runnel: typeof Runnel }
      const store = runnel.originStore()
      const begun = new Promise((resolve) => {
        void store.exclusively('session', () => new Promise(() => resolve(undefined)))
      })
      await begun
      const stop = new AbortController()
      const waiting = store.exclusively('session', () => Promise.resolve(), stop.signal)
      stop.abort()
      return waiting.catch((error: unknown) => (error as { code?: unknown }).code)
    })
    expect(code).toBe('ABORTED')
  })

  it('that the browser is offline', async () => {
    const tab = await tabs.open()
    await tab.page.context().setOffline(true)
    await value(tab.open({ network: networkOf(tracker, streamId) }))
    await value(tab.subscribe(streamId))
    await tab.status({ type: 'tracker', state: 'disconnected', code: 'OFFLINE' })
  })

  it('that a tracker does not answer, and what is no URL', async () => {
    const tab = await tabs.open()
    const network = networkOf({ nodeId: tracker.nodeId, url: 'ws://127.0.0.1:9' }, streamId)
    await value(tab.open({ network }))
    await value(tab.subscribe(streamId))
    await tab.status({ type: 'tracker', state: 'disconnected', code: 'DIAL_FAILED' })
    const wrong = networkOf({ nodeId: tracker.nodeId, url: 'nowhere' }, streamId)
    expect(await tab.open({ network: wrong })).toMatchObject({ code: 'INVALID_CONFIG' })
  })
})
