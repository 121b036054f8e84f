import { Wallet, type JsonRpcProvider } from 'ethers'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { startAnvil, type Anvil } from '../anvil.ts'
import { untilMined } from './mined.ts'
import type { RpcStatus } from './rpc-endpoint.ts'
import { RpcRoute } from './rpc-provider.ts'
import { startRpcProxy, type RpcProxy } from './rpc-proxy.testkit.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const account = `0x${'a1'.repeat(20)}`
let anvil: Anvil
let direct: JsonRpcProvider
let proxies: RpcProxy[]
let nowMs: number
let heard: RpcStatus[]
const routes: RpcRoute[] = []

beforeAll(async () => {
  anvil = await startAnvil()
  direct = new RpcRoute({ rpcUrl: anvil.url }).provider(31_337)
})
afterAll(async () => {
  direct.destroy()
  await anvil.stop()
})
beforeEach(async () => {
  nowMs = 0
  heard = []
  proxies = await Promise.all([1, 2, 3].map(() => startRpcProxy(anvil.url)))
})
afterEach(async () => {
  for (const route of routes.splice(0)) route.close()
  await Promise.all(proxies.map((proxy) => proxy.stop()))
})

const mine = (blocks: number) => direct.send('anvil_mine', [`0x${blocks.toString(16)}`])
const setBalance = (wei: number) => direct.send('anvil_setBalance', [account, `0x${wei.toString(16)}`])
const [first, second, third] = [0, 1, 2].map((i) => () => {
  const proxy = proxies[i]
  if (proxy === undefined) throw new Error('There are three')
  return proxy
}) as [() => RpcProxy, () => RpcProxy, () => RpcProxy]

/** A provider over so many of the proxies. */
function open(count: number, rpcQuorum?: number): { provider: JsonRpcProvider; route: RpcRoute } {
  const rpcUrl = proxies.slice(0, count).map(({ url }) => url)
  const route = new RpcRoute(
    { rpcUrl, rpcQuorum, chainId: 31_337 },
    { monotonicMs: () => nowMs, onEndpoint: (status) => heard.push(status) },
  )
  routes.push(route)
  return { route, provider: route.provider(31_337, { pollingInterval: 20 }) }
}

const until = (isSo: () => boolean | Promise<boolean>) => vi.waitUntil(isSo, { timeout: 30_000, interval: 5 })

/** Asks, and before the answers come, asks what is answered about a newer block. */
async function overtaken<T>(provider: JsonRpcProvider, ask: () => Promise<T>): Promise<T> {
  const block = await provider.getBlockNumber()
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  for (const proxy of proxies) proxy.held = held
  const answer = ask()
  const settled = answer.catch(() => {})
  const asked = proxies.filter(({ mood, asked }) => mood === undefined && asked.size > 0)
  await until(() => asked.every(({ holds }) => holds > 0))
  for (const proxy of proxies) proxy.held = undefined
  await mine(1)
  expect(await provider.getBlockNumber()).toBe(block + 1)
  release()
  await settled
  return answer
}

const states = (route: RpcRoute) => route.statuses.map(({ state }) => state)

describe('several endpoints, of which one is believed', () => {
  it('asks the first, and the next one where that is dead', async () => {
    const { provider, route } = open(2)
    await provider.getBlockNumber()
    expect(second().asked.size).toBe(0)
    first().mood = 'dead'
    expect(await provider.getBlockNumber()).toBe(await direct.getBlockNumber())
    expect(states(route)).toEqual(['failing', 'ok'])
    expect(JSON.stringify([heard, route.statuses])).not.toContain('secret-key')
  })

  it('comes back to the first when that answers again, and says each change once', async () => {
    const { provider, route } = open(2)
    first().mood = 'dead'
    for (let i = 0; i < 3; i++) await provider.getBlockNumber()
    first().mood = undefined
    nowMs += 2_000
    await provider.getBlockNumber()
    await until(() => states(route)[0] === 'ok')
    const before = second().asked.get('eth_blockNumber')
    await provider.getBlockNumber()
    expect(second().asked.get('eth_blockNumber')).toBe(before)
    expect(heard.map(({ state }) => state)).toEqual(['failing', 'ok'])
  })

  it('never reads older blocks than it has seen', async () => {
    const { provider, route } = open(2)
    await setBalance(1)
    await mine(1)
    expect(await provider.getBalance(account)).toBe(1n)
    const block = await direct.getBlockNumber()
    await mine(1)
    await setBalance(2)
    first().mood = 'dead'
    expect(await provider.getBlockNumber()).toBe(block + 1)
    // It comes back, with the blocks that it had.
    first().mood = undefined
    first().maxBlock = block
    await until(async () => {
      nowMs += 5_000
      expect(await provider.getBalance(account)).toBe(2n)
      return states(route)[0] === 'lagging'
    })
    expect(heard.at(-1)?.reason).toBe(`it is at block ${block}, others at ${block + 1}`)
    // Nobody else is left.
    second().mood = 'dead'
    await expect(provider.getBlockNumber()).rejects.toMatchObject({ code: 'CHAIN_UNREACHABLE' })
  })

  it('answers what was overtaken by a newer block, also when there is nobody else to ask', async () => {
    const { provider, route } = open(2)
    await setBalance(7)
    second().mood = 'dead'
    expect(await overtaken(provider, () => provider.getBalance(account))).toBe(7n)
    expect(states(route)[0]).toBe('ok')
  })

  it('notices that the first is stuck at a block', async () => {
    const { provider } = open(2)
    first().maxBlock = await provider.getBlockNumber()
    await mine(1)
    expect(await provider.getBlockNumber()).toBe(first().maxBlock)
    await until(async () => {
      nowMs += 5_000
      return (await provider.getBlockNumber()) > first().maxBlock
    })
    expect(heard.map(({ state }) => state)).not.toContain('failing')
  })

  it('takes a chain that is shorter everywhere for the chain, after a minute', async () => {
    const { provider } = open(2)
    const block = await provider.getBlockNumber()
    first().maxBlock = second().maxBlock = block - 1
    await expect(provider.getBlockNumber()).rejects.toMatchObject({ code: 'CHAIN_UNREACHABLE' })
    nowMs += 61_000
    expect(await provider.getBlockNumber()).toBe(block - 1)
  })

  it('sends a transaction to one, and looks for it at all', async () => {
    const { provider } = open(2)
    const wallet = new Wallet(anvil.privateKeys[0] ?? '', provider)
    // The first takes it, and then knows of no block more.
    first().lie = (asked, answer) =>
      asked.method === 'eth_getTransactionReceipt' ? { ...answer, result: null } : answer
    const receipt = await (await wallet.sendTransaction({ to: account, value: 1n })).wait()
    expect(receipt?.status).toBe(1)
    expect(second().asked.get('eth_sendRawTransaction')).toBeUndefined()
  })

  it('knows a transaction again that the first passed on before it died', async () => {
    const { provider } = open(2)
    const wallet = new Wallet(anvil.privateKeys[1] ?? '', provider)
    // The answer is lost.
    first().lie = (asked, answer) => (asked.method === 'eth_sendRawTransaction' ? {} : answer)
    const sent = await wallet.sendTransaction({ to: account, value: 1n })
    expect((await sent.wait())?.status).toBe(1)
    expect(second().asked.get('eth_sendRawTransaction')).toBe(1)
  })

  it('sends a transaction to the next where the first takes no more of them now', async () => {
    const { provider } = open(2)
    const wallet = new Wallet(anvil.privateKeys[2] ?? '', provider)
    const error = { code: -32_005, message: 'too many requests' }
    const isSend = ({ method }: { readonly method?: string }) => method === 'eth_sendRawTransaction'
    first().lie = (asked, answer) => (isSend(asked) ? { ...answer, result: undefined, ...{ error } } : answer)
    await untilMined(await wallet.sendTransaction({ to: account, value: 1n }))
    expect(second().asked.get('eth_sendRawTransaction')).toBe(1)
  })

  it('does not believe an endpoint of another chain', async () => {
    const { provider, route } = open(2)
    first().lie = (asked, answer) => (asked.method === 'eth_chainId' ? { ...answer, result: '0x1' } : answer)
    await provider.getBlockNumber()
    expect(states(route)).toEqual(['other-chain', 'ok'])
    expect(heard[0]?.reason).toBe('it serves chain 1, not 31337')
  })
})

describe('three endpoints, of which two have to agree', () => {
  const lies = (asked: { method?: string }, answer: object) =>
    asked.method === 'eth_getBalance' ? { ...answer, result: '0x777' } : answer

  it('outvotes one that lies, and names it without its key', async () => {
    const { provider, route } = open(3)
    await setBalance(5)
    first().lie = lies
    for (let i = 0; i < 2; i++) {
      expect(await provider.getBalance(account)).toBe(5n)
      await until(() => first().asked.get('eth_getBalance') === i + 1)
      // That it differed is noted when all have answered.
      await provider.getBlockNumber()
      nowMs += 3_000
    }
    await until(() => states(route)[0] === 'differs')
    const origin = new URL(first().url).origin
    expect(heard).toMatchObject([{ endpoint: origin, state: 'differs' }])
    expect(heard[0]?.reason).toBe('others agree on another answer to eth_getBalance')
    // It is not asked for a while.
    const before = first().asked.get('eth_getBalance')
    await provider.getBalance(account)
    expect(first().asked.get('eth_getBalance')).toBe(before)
    // And is fine again once it agrees.
    first().lie = (_, answer) => answer
    await until(async () => {
      nowMs += 61_000
      await provider.getBalance(account)
      return states(route)[0] === 'ok'
    })
    expect(heard.map(({ state }) => state)).toEqual(['differs', 'ok'])
  })

  it('answers nothing where no two agree', async () => {
    const { provider } = open(3)
    first().lie = lies
    second().lie = (asked, answer) =>
      asked.method === 'eth_getBalance' ? { ...answer, result: '0x778' } : answer
    const failure = provider.getBalance(account)
    await expect(failure).rejects.toMatchObject({ code: 'CHAIN_DISPUTED' })
    await expect(failure).rejects.toThrow(/^no 2 of http:\/\/127.0.0.1:\d+, .* agree on eth_getBalance$/)
  })

  it('reads at a block that two have', async () => {
    const { provider } = open(3)
    await setBalance(5)
    await mine(2)
    const block = await direct.getBlockNumber()
    // The newest block is known to one only; it changes what is read.
    second().maxBlock = third().maxBlock = block
    await mine(1)
    await setBalance(6)
    expect(await provider.getBlockNumber()).toBe(block)
    expect(await provider.getBalance(account)).toBe(5n)
    second().maxBlock = Infinity
    // Two that answer first may be the third, which is behind, and another: they have the older block.
    await until(async () => (await provider.getBalance(account)) === 6n)
  })

  it('goes on with two, and not with one', async () => {
    const { provider } = open(3)
    await provider.getBlockNumber()
    third().mood = 'dead'
    expect(await provider.getBlockNumber()).toBe(await direct.getBlockNumber())
    second().mood = 'dead'
    await expect(provider.getBlockNumber()).rejects.toThrow()
    second().mood = undefined
    expect(await provider.getBlockNumber()).toBe(await direct.getBlockNumber())
  })

  it('answers what was overtaken by a newer block', async () => {
    const { provider, route } = open(3)
    await setBalance(7)
    expect(await overtaken(provider, () => provider.getBalance(account))).toBe(7n)
    expect(states(route)).toEqual(['ok', 'ok', 'ok'])
  })

  it('is not led on by one that claims blocks which are not there', async () => {
    const { provider } = open(3)
    first().lie = (asked, answer) =>
      asked.method === 'eth_blockNumber' ? { ...answer, result: '0xffffff' } : answer
    expect(await provider.getBlockNumber()).toBe(await direct.getBlockNumber())
  })

  it('waits for a transaction until two know it', async () => {
    const { provider } = open(3)
    const wallet = new Wallet(anvil.privateKeys[2] ?? '', provider)
    first().lie = (asked, answer) =>
      asked.method === 'eth_getTransactionReceipt' && answer.result === null
        ? { ...answer, result: { transactionHash: asked.params?.[0], status: '0x1', blockNumber: '0x1' } }
        : answer
    const sent = await wallet.sendTransaction({ to: account, value: 1n })
    const receipt = await sent.wait()
    expect(receipt?.blockNumber).toBeGreaterThan(1)
  })
})

it('refuses that more agree than there are', () => {
  expect(() => open(2, 3)).toThrow('rpcQuorum: 3 cannot agree where there are 2')
})
