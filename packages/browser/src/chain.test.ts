import { createClient, type ClientConfig, type RunnelClient } from '@runnel/client'
import type { Tracker } from '@runnel/tracker'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { take } from '../../client/src/client.testkit.ts'
import { mined, startTestChain, type TestChain } from '../../client/src/registry/chain.testkit.ts'
import { askedOf, injectWallet } from './injected-wallet.testkit.ts'
import { startTracker } from './network.testkit.ts'
import { driverLoaded, Tabs, value, type Tab } from './tabs.testkit.ts'

let tabs: Tabs
let tracker: Tracker
let chain: TestChain
const clients: RunnelClient[] = []
beforeAll(async () => {
  ;[tabs, tracker, chain] = await Promise.all([Tabs.start(), startTracker(), startTestChain()])
  await mined(chain.trackers.addTracker(tracker.nodeId, tracker.url, ''))
})
afterAll(async () => {
  await tabs.close()
  await Promise.all(clients.map((client) => client.close()))
  await tracker.stop()
  await chain.stop()
})

const config = (): Omit<ClientConfig, 'network'> & { readonly network: ChainNetwork } => ({
  network: { kind: 'chain', rpcUrl: chain.url, chainId: 31337, registries: chain.registries },
  registry: { pollIntervalMs: 20 },
})
type ChainNetwork = Extract<ClientConfig['network'], { kind: 'chain' }>

/** A wallet whose user says yes, or no. */
const inject = (answer: 'yes' | 'no') =>
  injectWallet(
    { rpcUrl: chain.url, address: chain.accounts[2].wallet.address },
    answer === 'no' ? { refuses: /^(eth_requestAccounts|eth_sendTransaction|Delegation)$/ } : {},
  )

describe('a page with the registries of a chain', () => {
  it('reads them, and loads what reads them only then', async () => {
    const owner = await createClient({ ...config(), privateKey: chain.accounts[1].privateKey })
    clients.push(owner)
    const { id } = await owner.createStream({ path: 'read' })
    await owner.grant(id, { user: 'public', permissions: ['publish', 'subscribe'] })
    const loaded: string[] = []
    const tab = await tabs.open({
      prepare: async (page) => void page.on('response', (response) => loaded.push(response.url())),
    })
    const chunks = () => loaded.filter((url) => url.includes('runnel-chain'))
    expect(chunks()).toEqual([])
    await value(tab.open(config()))
    expect(chunks()).toHaveLength(1)
    await value(tab.subscribe(id))
    await owner.publish(id, 'to the page')
    expect(await tab.received(1)).toEqual(['to the page'])
    // A message may come before its sender is a neighbour: what it sends while the registry is asked about it is taken.
    const { registry = 0, tracker = 0, message = 0 } = await tab.phases()
    expect(registry).toBeGreaterThan(0)
    expect(tracker).toBeGreaterThan(registry)
    expect(message).toBeGreaterThan(tracker)
  })

  it('changes them through a wallet, whose account owns what is created', async () => {
    const tab = await tabs.open({ prepare: inject('yes') })
    const account = chain.accounts[2].nodeId
    const userId = await value(tab.open(config(), { wallet: true }))
    expect(userId).not.toBe(account)
    const id = await value(tab.createStream('by-wallet'))
    expect(id).toBe(`${account}/by-wallet`)
    expect(await tab.publish(id, 'too early')).toMatchObject({ code: 'NO_PUBLISH_PERMISSION' })
    await value(tab.grant(id, { user: userId, permissions: ['publish'] }))
    await value(tab.publish(id, 'granted'))
  })

  it('asks a wallet once for a session, which other tabs and a reloaded one share', async () => {
    const context = await tabs.browser.newContext()
    const asked = await askedOf(context)
    const prepare = inject('yes')
    const [first, second] = [await tabs.open({ context, prepare }), await tabs.open({ context, prepare })]
    const wish = {
      ...{ chainId: 31337, streams: [], publishes: true, reads: true, lastsMs: 3_600_000 },
      requester: 'https://page.example',
    }
    const [one, other] = await Promise.all([value(first.openSession(wish)), value(second.openSession(wish))])
    expect(one.userId).toBe(chain.accounts[2].nodeId)
    expect(other).toEqual(one)
    await second.page.reload()
    await driverLoaded(second.page)
    expect(await value(second.openSession(wish))).toEqual(one)
    expect(asked).toEqual(['Delegation'])
    await context.close()
  })

  it('acts for the account of its wallet, in two tabs and after a reload, and asks once', async () => {
    const owner = await createClient({ ...config(), privateKey: chain.accounts[1].privateKey })
    clients.push(owner)
    const { id } = await owner.createStream({ path: 'of-a-wallet' })
    const account = chain.accounts[2].nodeId
    await owner.grant(id, { user: account, permissions: ['publish'] })
    await owner.grant(id, { user: 'public', permissions: ['subscribe'] })
    const heard = await owner.subscribe(id)
    const context = await tabs.browser.newContext()
    const asked = await askedOf(context)
    const prepare = inject('yes')
    const pair = [await tabs.open({ context, prepare }), await tabs.open({ context, prepare })] as const
    const open = (tab: Tab) => value(tab.open(config(), { actsForWallet: true }))
    expect(await Promise.all(pair.map(open))).toEqual([account, account])
    for (const tab of pair) await value(tab.subscribe(id))
    for (const [index, tab] of pair.entries()) await value(tab.publish(id, index))
    for (const tab of pair) expect((await tab.received(2)).toSorted()).toEqual([0, 1])

    const [, second] = pair
    await second.page.reload()
    await driverLoaded(second.page)
    expect(await open(second)).toBe(account)
    await value(second.publish(id, 2))
    const messages = await take(heard, 3)
    expect(messages.map(({ content }) => content).toSorted()).toEqual([0, 1, 2])
    expect(new Set(messages.map(({ publisherId }) => publisherId))).toEqual(new Set([account]))
    expect(asked).toEqual(['Delegation'])
    await context.close()
  })

  it('is told that the user refused, or that there is no wallet', async () => {
    const [refused, without] = [await tabs.open({ prepare: inject('no') }), await tabs.open()]
    for (const options of [{ wallet: true }, { actsForWallet: true }]) {
      expect(await refused.open(config(), options)).toMatchObject({ code: 'WALLET_REFUSED' })
      expect(await without.open(config(), options)).toMatchObject({ code: 'NO_WALLET' })
    }
  })

  it('is told of a wrong address, a wrong chain, and of one that does not answer', async () => {
    const tab = await tabs.open()
    const { network } = config()
    const nowhere = { ...network.registries, streamRegistry: `0x${'1'.repeat(40)}` }
    const opened = (changed: Partial<ChainNetwork>) => tab.open({ network: { ...network, ...changed } })
    expect(await opened({ registries: nowhere })).toMatchObject({ code: 'REGISTRY_MISSING' })
    expect(await opened({ chainId: 1 })).toMatchObject({ code: 'CHAIN_MISMATCH' })
    expect(await opened({ rpcUrl: 'http://127.0.0.1:9' })).toMatchObject({ code: 'CHAIN_UNREACHABLE' })
  })
})
