import type { StaticNetwork } from '@runnel/client'
import type { Tracker } from '@runnel/tracker'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTracker } from '../../../browser/src/network.testkit.ts'
import { MediaPages } from './pages.testkit.ts'

const streamId = `0x${'a'.repeat(40)}/room`
let tracker: Tracker
let pages: MediaPages
let network: { readonly kind: 'static'; readonly document: StaticNetwork }

beforeAll(async () => {
  tracker = await startTracker()
  const permissions = [{ user: 'public' as const, publish: true, subscribe: true }]
  const trackers = [{ nodeId: tracker.nodeId, url: tracker.url }]
  const streams = [{ id: streamId, partitions: 4, permissions }]
  network = { kind: 'static', document: { version: 1, trackers, streams } }
  pages = await MediaPages.start()
})
afterAll(async () => {
  await pages.close()
  await tracker.stop()
})

const until = (isSo: () => Promise<unknown>) => expect.poll(isSo, { timeout: 60_000, interval: 50 })

describe('pages', () => {
  it('paint what another one publishes', async () => {
    const [from, to] = [await pages.open(), await pages.open()]
    await from.call('open', { network }, streamId, 'Ada')
    await to.call('open', { network }, streamId, 'Ben')
    await from.call('publishClock')
    await until(() => to.call('ageOfPicture')).toBeLessThan(5_000)
    console.log(await to.call('ageOfPicture'), await to.call('report'), await from.call('counters'))
  })
})
