import type { Tracker } from '@runnel/tracker'
import { Wallet } from 'ethers'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { Clients, startTracker, take } from './client.testkit.ts'
import { memoryStore } from './identity/session-store.ts'
import { testWallet, type TestWallet } from './identity/wallet.testkit.ts'
import { mined, startTestChain, type TestChain } from './registry/chain.testkit.ts'

let chain: TestChain
let tracker: Tracker
let clients: Clients
let wallet: TestWallet
let streamId: string

beforeAll(async () => {
  chain = await startTestChain()
  tracker = await startTracker()
  await mined(chain.trackers.addTracker(tracker.nodeId, tracker.url, ''))
  await mined(chain.streams.createStream('of-a-wallet', '', 1, []))
  streamId = `${chain.accounts[0].nodeId}/of-a-wallet`
  clients = new Clients({
    network: { kind: 'chain', rpcUrl: chain.url, registries: chain.registries },
    registry: { pollIntervalMs: 20 },
  })
})
afterEach(() => clients.closeAll())
afterAll(async () => {
  await tracker.stop()
  await chain.stop()
})

const isQuestion = (method: string) => /sign|send/i.test(method)

it('clients of a wallet share one signature, and publish as its account without a transaction', async () => {
  const [account] = chain.accounts
  wallet = testWallet(account.wallet, 31337)
  const sessions = memoryStore()
  const transactions = await chain.provider.getTransactionCount(account.nodeId)
  const pair = await Promise.all([
    clients.create({ wallet }, { sessions }),
    clients.create({ wallet }, { sessions }),
  ])
  expect(wallet.asked.filter(isQuestion)).toEqual(['eth_signTypedData_v4'])
  expect(new Set(pair.map(({ nodeId }) => nodeId)).size).toBe(2)

  const heard = await Promise.all(pair.map((client) => client.subscribe(streamId)))
  for (const [index, client] of pair.entries()) await client.publish(streamId, index)
  for (const subscription of heard) {
    const messages = await take(subscription, 2)
    expect(messages.map(({ content }) => content).toSorted()).toEqual([0, 1])
    expect(messages.map(({ publisherId }) => publisherId)).toEqual([account.nodeId, account.nodeId])
  }
  const later = await clients.create({ wallet }, { sessions })
  expect(later.userId).toBe(account.nodeId)
  expect(wallet.asked.filter(isQuestion)).toHaveLength(1)
  expect(await chain.provider.getTransactionCount(account.nodeId)).toBe(transactions)
})

it('a user of a wallet who says no gets one sentence, and nothing is left running', async () => {
  wallet = testWallet(new Wallet(chain.accounts[1].privateKey), 31337)
  wallet.refuses = true
  const before = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout')
  await expect(clients.create({ wallet })).rejects.toMatchObject({ code: 'WALLET_REFUSED' })
})
