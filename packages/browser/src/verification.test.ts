import { createClient, type RunnelClient } from '@runnel/client'
import type { Tracker } from '@runnel/tracker'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { networkOf, startTracker } from './network.testkit.ts'
import { Tabs, value, type TabOptions } from './tabs.testkit.ts'

const streamId = `0x${'c'.repeat(40)}/verification`
const [perRound, maxRounds] = [100, 4]
let tabs: Tabs
let tracker: Tracker
let publisher: RunnelClient
beforeAll(async () => {
  ;[tabs, tracker] = await Promise.all([Tabs.start(), startTracker()])
  publisher = await createClient({ network: networkOf(tracker, streamId) })
  await publisher.subscribe(streamId, {}, () => undefined)
})
afterAll(async () => {
  await tabs.close()
  await publisher.close()
  await tracker.stop()
})

/** Opens a page and sends it single messages until workers verify, or for some rounds; tells whether they do. */
async function verifiesAside(options: TabOptions, verificationWorkers: number): Promise<boolean> {
  const tab = await tabs.open(options)
  await value(tab.open({ network: networkOf(tracker, streamId), verificationWorkers }))
  await value(tab.subscribe(streamId))
  await tab.neighbours(1)
  const sent: number[] = []
  let isAside = false
  for (let round = 0; round < maxRounds && !isAside; round++) {
    for (let n = 0; n < perRound; n++) {
      sent.push(sent.length)
      await publisher.publish(streamId, sent.length - 1)
      await new Promise((next) => setImmediate(next))
    }
    await tab.received(sent.length)
    isAside = ((await tab.counters())['data.verifiedAside'] ?? 0) > 0
  }
  expect(await tab.received(sent.length)).toEqual(sent)
  await tab.close()
  return isAside
}

it.each(['modules', 'single'] as const)(
  'workers verify for a page that is behind, with the %s build, and it gets all in order',
  async (build) => {
    expect(await verifiesAside({ build }, 1)).toBe(true)
  },
)

it.each<[string, TabOptions, number]>([
  ['has asked for none', {}, 0],
  ['may have none', { build: 'no-workers' }, 1],
])('a page that %s verifies everything itself', async (_, options, workers) => {
  expect(await verifiesAside(options, workers)).toBe(false)
})

it('nothing goes wrong in these pages unseen', () => {
  expect(tabs.errors).toEqual([])
})
