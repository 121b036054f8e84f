import { Wallet, type JsonRpcProvider } from 'ethers'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { startAnvil, type Anvil } from '../anvil.ts'
import { untilMined } from './mined.ts'
import { RpcRoute } from './rpc-provider.ts'
import { startRpcProxy, type RpcProxy } from './rpc-proxy.testkit.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const receiver = `0x${'a1'.repeat(20)}`
let anvil: Anvil
let proxy: RpcProxy
let provider: JsonRpcProvider
let nowMs: number

beforeAll(async () => {
  anvil = await startAnvil()
})
afterAll(() => anvil.stop())
beforeEach(async () => {
  nowMs = 0
  proxy = await startRpcProxy(anvil.url)
  provider = new RpcRoute({ rpcUrl: proxy.url }, { monotonicMs: () => nowMs }).provider(31_337)
})
afterEach(async () => {
  provider.destroy()
  await proxy.stop()
})

const balance = () => provider.getBalance(receiver)
const heightsAsked = () => proxy.asked.get('eth_blockNumber') ?? 0

/** Sends 1 wei, sees that it is mined, and then meets a machine that does not know of it yet. */
async function payAndLag(): Promise<bigint> {
  const before = await balance()
  const block = await provider.getBlockNumber()
  const wallet = new Wallet(anvil.privateKeys[0] ?? '', provider)
  await untilMined(await wallet.sendTransaction({ to: receiver, value: 1n }))
  proxy.maxBlock = block
  return before
}

it('reads one’s own transaction, whoever answers behind the URL', async () => {
  const before = await payAndLag()
  const asked = heightsAsked()
  const read = balance()
  await vi.waitUntil(() => heightsAsked() > asked)
  proxy.maxBlock = Infinity
  expect(await read).toBe(before + 1n)
})

it('takes the older answer when nobody behind the URL knows better in time', async () => {
  const before = await payAndLag()
  const asked = heightsAsked()
  const read = balance()
  await vi.waitUntil(() => heightsAsked() > asked)
  nowMs += 5_000
  expect(await read).toBe(before)
  // From then on that is the chain.
  expect(await balance()).toBe(before)
})

it('sends no transaction again that is in one batch with what is read', async () => {
  await payAndLag()
  const wallet = new Wallet(anvil.privateKeys[1] ?? '', provider)
  const transaction = await wallet.populateTransaction({
    to: receiver,
    value: 1n,
    gasLimit: 21_000n,
    nonce: 0,
  })
  const signed = await wallet.signTransaction(transaction)
  const sent = () => proxy.asked.get('eth_sendRawTransaction') ?? 0
  const before = sent()
  await Promise.all([provider.send('eth_sendRawTransaction', [signed]), balance()])
  expect(sent()).toBe(before + 1)
})

it('reads from an endpoint that takes no batches', async () => {
  const before = await payAndLag()
  proxy.maxBlock = Infinity
  proxy.mood = 'single'
  expect(await balance()).toBe(before + 1n)
})

it('asks for no heights where nothing was seen of late', async () => {
  await payAndLag()
  proxy.maxBlock = Infinity
  const asked = heightsAsked()
  await balance()
  expect(heightsAsked()).toBe(asked + 1)
  nowMs += 60_000
  await balance()
  expect(heightsAsked()).toBe(asked + 1)
})
