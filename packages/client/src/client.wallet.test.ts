import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Tracker } from '@runnel/tracker'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { Clients, startTracker, take } from './client.testkit.ts'
import { memoryStore } from './identity/session-store.ts'
import { testWallet } from './identity/wallet.testkit.ts'
import { mined, startTestChain, type TestChain } from './registry/chain.testkit.ts'

let chain: TestChain
let tracker: Tracker
let clients: Clients
let streamId: string

beforeAll(async () => {
  chain = await startTestChain()
  tracker = await startTracker()
  await mined(chain.trackers.addTracker(tracker.nodeId, tracker.url, ''))
  await mined(chain.streams.createStream('of-a-wallet', inTheClear, 1, []))
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

/** What it takes to read what is encrypted is asked for in client.encryption.test.ts. */
const inTheClear = JSON.stringify({ encryption: { content: 'never' } })

const isQuestion = (method: string) => /sign|send/i.test(method)

it('clients of a wallet share one signature, and publish as its account without a transaction', async () => {
  const [account] = chain.accounts
  const wallet = testWallet(account.wallet, 31337)
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
  const program = `
    import { createClient } from '@runnel/client'
    const refusal = Object.assign(new Error('User rejected the request.'), { code: 4001 })
    const wallet = { request: () => Promise.reject(refusal) }
    const network = ${JSON.stringify({ kind: 'chain', rpcUrl: chain.url, registries: chain.registries })}
    await createClient({ network, wallet }).catch(({ code, message }) => console.log(code + ' ' + message))`
  const args = ['--conditions=runnel-src', '--input-type=module', '--eval', program]
  // Resolves when the program has ended by itself.
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname })
  expect(stdout).toBe('WALLET_REFUSED The user of the wallet refused\n')
}, 30_000)
