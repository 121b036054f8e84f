import { createClient } from '@runnel/client'
import type { Tracker } from '@runnel/tracker'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { networkOf, startTracker } from './network.testkit.ts'
import { Tabs, value, type TabOptions } from './tabs.testkit.ts'

const [perRound, maxRounds] = [100, 4]
let tabs: Tabs
let tracker: Tracker
beforeAll(async () => {
  ;[tabs, tracker] = await Promise.all([Tabs.start(), startTracker()])
})
afterAll(async () => {
  await tabs.close()
  await tracker.stop()
})

/**
 * Opens a page and sends it single messages until workers verify, or for some rounds; tells whether they do. Each in a stream of its own, as who
 * comes gets what was published alone just before.
 */
async function verifiesAside(
  name: string,
  options: TabOptions,
  verificationWorkers: number,
): Promise<boolean> {
  const streamId = `0x${'c'.repeat(40)}/${name}`
  const network = networkOf(tracker, streamId)
  const publisher = await createClient({ network })
  await publisher.subscribe(streamId, {}, () => undefined)
  const tab = await tabs.open(options)
  await value(tab.open({ network, verificationWorkers }))
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
  await publisher.close()
  return isAside
}

it.each(['modules', 'single'] as const)(
  'workers verify for a page that is behind, with the %s build, and it gets all in order',
  async (build) => {
    expect(await verifiesAside(build, { build }, 1)).toBe(true)
  },
)

it.each<[string, string, TabOptions, number]>([
  ['none-asked', 'has asked for none', {}, 0],
  ['none-allowed', 'may have none', { build: 'no-workers' }, 1],
])('%s: a page that %s verifies everything itself', async (name, _, options, workers) => {
  expect(await verifiesAside(name, options, workers)).toBe(false)
})

it('nothing goes wrong in these pages unseen', () => {
  expect(tabs.errors).toEqual([])
})
