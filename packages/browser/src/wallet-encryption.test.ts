import { createClient, type RunnelClient } from '@runnel/client'
import type { ClientConfig } from '@runnel/client/browser'
import type { Tracker } from '@runnel/tracker'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '@runnel/transport'
import { mined, startTestChain, type TestChain } from '../../client/src/registry/chain.testkit.ts'
import { askedOf, injectWallet } from './injected-wallet.testkit.ts'
import { startTracker } from './network.testkit.ts'
import { startStorage, type TestStorage } from './storage.testkit.ts'
import { driverLoaded, Tabs, value, type Tab } from './tabs.testkit.ts'

let tabs: Tabs
let tracker: Tracker
let chain: TestChain
let storage: TestStorage
let owner: RunnelClient
beforeAll(async () => {
  ;[tabs, tracker, chain] = await Promise.all([Tabs.start(), startTracker(), startTestChain()])
  await mined(chain.trackers.addTracker(tracker.nodeId, tracker.url, ''))
  const [{ privateKey }, ofOwner] = chain.accounts
  storage = await startStorage({ ...config(), privateKey }, { port: await freePort(), register: true })
  owner = await createClient({ ...config(), privateKey: ofOwner.privateKey })
}, 60_000)
afterAll(async () => {
  await tabs.close()
  await owner.close()
  await storage.stop()
  await tracker.stop()
  await chain.stop()
})

const config = (): ClientConfig => ({
  network: { kind: 'chain', rpcUrl: chain.url, chainId: 31337, registries: chain.registries },
  registry: { pollIntervalMs: 20 },
})

/** A stored stream that the wallet's account may read. */
async function newStream(path: string): Promise<string> {
  const { id } = await owner.createStream({ path })
  await owner.addToStorageNode(id, storage.client.nodeId)
  await owner.grant(id, { user: chain.accounts[2].nodeId, permissions: ['subscribe'] })
  return id
}

const wallet = (refuses?: RegExp) =>
  injectWallet(
    { rpcUrl: chain.url, address: chain.accounts[2].wallet.address },
    refuses === undefined ? {} : { refuses },
  )
const open = (tab: Tab) => value(tab.open(config(), { actsForWallet: true }))

async function publishStored(streamId: string, ...contents: unknown[]): Promise<void> {
  const sent = []
  for (const content of contents) sent.push(await owner.publish(streamId, content))
  await owner.waitForStorage(sent)
}

describe('a page whose user has a wallet', { timeout: 60_000 }, () => {
  it('is told of a refusal as what could not be read, and other streams go on', async () => {
    const secret = await newStream('refused')
    const { id: clear } = await owner.createStream({ path: 'clear' })
    await owner.grant(clear, { user: 'public', permissions: ['subscribe'] })
    const context = await tabs.browser.newContext()
    const asked = await askedOf(context)
    const tab = await tabs.open({ context, prepare: wallet(/^ReadingKey$/) })
    await open(tab)
    for (const streamId of [secret, clear]) await value(tab.subscribe(streamId))
    for (const count of [1, 2, 3]) {
      await owner.publish(secret, count)
      expect(await tab.undecodable(count)).toEqual(Array(count).fill('WALLET_REFUSED'))
    }
    await owner.publish(clear, 'for all')
    expect(await tab.received(1)).toEqual(['for all'])
    expect(asked).toEqual(['Delegation', 'ReadingKey'])
    await context.close()
  })

  it('asks it when something encrypted is read first, and neither after a reload nor in a second tab', async () => {
    const streamId = await newStream('asked')
    const context = await tabs.browser.newContext()
    const asked = await askedOf(context)
    const first = await tabs.open({ context, prepare: wallet() })
    await open(first)
    expect(asked).toEqual(['Delegation'])
    await publishStored(streamId, 'one')
    expect(await value(first.history(streamId, 1))).toEqual(['one'])
    const all = ['Delegation', 'ReadingKey', 'ReadingKey', 'Card']
    expect(asked).toEqual(all)

    await first.page.reload()
    await driverLoaded(first.page)
    const second = await tabs.open({ context, prepare: wallet() })
    for (const tab of [first, second]) {
      await open(tab)
      expect(await value(tab.history(streamId, 1))).toEqual(['one'])
    }
    expect(asked).toEqual(all)
    await context.close()
  })

  it('is let in, and reads, where the browser has no room for what was signed', async () => {
    const streamId = await newStream('full')
    const context = await tabs.browser.newContext()
    const asked = await askedOf(context)
    const tab = await tabs.open({ context, prepare: wallet() })
    await tab.page.evaluate(() => {
      for (let length = 1024 * 1024; length >= 1;) {
        try {
          localStorage.setItem(`filled ${localStorage.length}`, 'x'.repeat(length))
        } catch {
          length = Math.floor(length / 2)
        }
      }
    })
    await open(tab)
    await publishStored(streamId, 'one')
    expect(await value(tab.history(streamId, 1))).toEqual(['one'])
    expect(asked.filter((what) => what === 'Delegation')).toHaveLength(1)
    await context.close()
  })
})
