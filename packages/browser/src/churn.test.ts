import { createClient, type RunnelClient } from '@runnel/client'
import { seededRandom, toStreamId, toStreamPartId } from '@runnel/protocol'
import type { Tracker } from '@runnel/tracker'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { networkOf, startTracker } from './network.testkit.ts'
import { Tabs, value, type Tab } from './tabs.testkit.ts'

const streamId = `0x${'d'.repeat(40)}/churn`
const [nodeCount, stayingTabs, comingTabs] = [6, 3, 3]
const rounds = 24
const messagesPerRound = 5

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

const config = () => ({ network: networkOf(tracker, streamId) })

async function enter(): Promise<Tab> {
  const tab = await tabs.open()
  await value(tab.open(config()))
  await value(tab.subscribe(streamId))
  await tab.neighbours(1)
  return tab
}

/** A node of Node, and what it receives. */
async function node(
  expected: number,
): Promise<{ readonly contents: unknown[]; readonly all: Promise<void> }> {
  const client = await createClient(config())
  clients.push(client)
  const contents: unknown[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  await client.subscribe(streamId, {}, ({ content }) => {
    if (contents.push(content) === expected) resolve()
  })
  await client.network.waitForNeighbours(toStreamPartId(toStreamId(streamId), 0))
  return { contents, all: promise }
}

it('loses nothing for those that stay, while tabs come, go and vanish', async () => {
  const random = seededRandom('churn of tabs')
  const expected = rounds * messagesPerRound
  const nodes = await Promise.all(Array.from({ length: nodeCount }, () => node(expected)))
  const staying: Tab[] = []
  for (let i = 0; i < stayingTabs; i++) staying.push(await enter())
  const coming: Tab[] = []
  const sent: string[] = []
  for (let round = 0; round < rounds; round++) {
    if (coming.length < comingTabs && random.next() < 0.6) coming.push(await enter())
    else if (coming.length > 0) {
      const [leaving] = coming.splice(Math.floor(random.next() * coming.length), 1)
      if (random.next() < 0.5) await leaving?.close()
      await leaving?.page.close()
    }
    for (let i = 0; i < messagesPerRound; i++) {
      const content = `${round}.${i}`
      sent.push(content)
      const publisher = Math.floor(random.next() * (nodeCount + stayingTabs))
      const client = clients[publisher]
      const tab = staying[publisher - nodeCount]
      if (client) await client.publish(streamId, content)
      else if (tab) await value(tab.publish(streamId, content))
    }
  }
  await Promise.all(nodes.map(({ all }) => all))
  const ofTabs = await Promise.all(staying.map((tab) => tab.received(expected)))
  for (const contents of [...nodes.map(({ contents }) => contents), ...ofTabs]) {
    expect(contents.toSorted()).toEqual(sent.toSorted())
  }
  expect(tabs.errors).toEqual([])
}, 180_000)
