import { Wallet, type JsonRpcProvider } from 'ethers'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { startAnvil, type Anvil } from '../anvil.ts'
import { untilMined } from './mined.ts'
import { RpcRoute } from './rpc-provider.ts'
import { startRpcProxy, type RpcProxy } from './rpc-proxy.testkit.ts'

const hash = `0x${'ab'.repeat(32)}`
let anvil: Anvil
let proxy: RpcProxy
let route: RpcRoute
let provider: JsonRpcProvider

beforeAll(async () => {
  anvil = await startAnvil()
  proxy = await startRpcProxy(anvil.url)
  route = new RpcRoute({ rpcUrl: proxy.url })
  provider = route.provider(31_337)
})
afterAll(async () => {
  provider.destroy()
  route.close()
  await proxy.stop()
  await anvil.stop()
})
afterEach(() => vi.useRealTimers())

describe('untilMined', () => {
  it('asks again where the endpoint dies while it waits', async () => {
    await provider.send('evm_setAutomine', [false])
    const wallet = new Wallet(anvil.privateKeys[0] ?? '', provider)
    const sent = await wallet.sendTransaction({ to: wallet.address, value: 1n })
    proxy.mood = 'dead'
    const failed = Promise.withResolvers<void>()
    const ask = () =>
      provider.getTransactionReceipt(sent.hash).catch((error: unknown) => {
        failed.resolve()
        throw error
      })
    const mined = untilMined(sent, ask)
    await failed.promise
    proxy.mood = undefined
    await provider.send('anvil_mine', ['0x1'])
    await mined
    await provider.send('evm_setAutomine', [true])
  })

  it('says that a transaction had no effect', async () => {
    const wallet = new Wallet(anvil.privateKeys[1] ?? '', provider)
    // A constructor that reverts at once.
    const sent = await wallet.sendTransaction({ data: '0xfd', gasLimit: 100_000 })
    await expect(untilMined(sent)).rejects.toMatchObject({ code: 'TRANSACTION_FAILED', message: sent.hash })
  })

  it('ends when its time is over, and with what will not change', async () => {
    const closed = new Error('closed')
    await expect(
      untilMined(
        { hash, provider },
        () => Promise.reject(closed),
        (error) => error === closed,
      ),
    ).rejects.toBe(closed)
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] })
    const waiting = expect(untilMined({ hash, provider }, async () => null)).rejects.toMatchObject({
      code: 'TRANSACTION_UNCONFIRMED',
    })
    await vi.advanceTimersByTimeAsync(121_000)
    await waiting
  })
})
