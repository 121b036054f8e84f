import { Permission } from '@runnel/contracts'
import { toStreamId, type Clock } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { startRpcProxy, type RpcProxy } from '../../../../../contracts/src/rpc/rpc-proxy.testkit.ts'
import { mined, startTestChain, type TestChain } from '../chain.testkit.ts'
import type { Registries, RegistryChange, RegistryHealth } from '../ports.ts'
import { openChainRegistries } from './chain-registries.ts'

/** What the endpoints do in a minute they do in less than a second. */
const hasty: Clock = Object.assign(Object.create(systemClock) as Clock, {
  monotonicMs: () => systemClock.monotonicMs() * 100,
})

let chain: TestChain
let proxies: [RpcProxy, RpcProxy, RpcProxy]
let registries: Registries
let heard: RegistryChange[]
let health: RegistryHealth[]
let logged: string[]
let onHeard: () => void

beforeAll(async () => {
  chain = await startTestChain()
})
afterAll(() => chain.stop())
beforeEach(async () => {
  const start = () => startRpcProxy(chain.url)
  proxies = [await start(), await start(), await start()]
})
afterEach(async () => {
  await registries.stop()
  await Promise.all(proxies.map((proxy) => proxy.stop()))
})

async function open(count: number, chainId = 31_337): Promise<void> {
  ;[heard, health, logged, onHeard] = [[], [], [], () => {}]
  const log = (fields: object, text: string) => void logged.push(`${text} ${JSON.stringify(fields)}`)
  registries = await openChainRegistries(
    {
      rpcUrl: proxies.slice(0, count).map(({ url }) => url),
      ...{ chainId, registries: chain.registries, pollIntervalMs: 20 },
      account: chain.accounts[0].privateKey,
    },
    { clock: hasty, logger: { info: log, warn: log, error: log } },
  )
  await registries.start({
    onChange: (change) => {
      if (change.kind !== 'stream') return
      heard.push(change)
      onHeard()
    },
    onHealth: (news) => health.push(news),
  })
}

/** Resolves when so many changes were heard of. */
function hear(count: number): Promise<void> {
  return new Promise((resolve) => {
    onHeard = () => void (heard.length >= count && resolve())
    onHeard()
  })
}

const streamOf = (path: string) => toStreamId(`${chain.accounts[0].nodeId}/${path}`)
const create = (path: string) => mined(chain.streams.createStream(path, '', 1, []))

it('say once that an endpoint refuses to tell events', async () => {
  const error = { code: -32_005, message: 'query exceeds the limit' }
  proxies[0].lie = (asked, answer) =>
    asked.method === 'eth_getLogs' ? { ...answer, result: undefined, ...{ error } } : answer
  await open(1)
  await create('refused')
  const asked = () => proxies[0].asked.get('eth_getLogs') ?? 0
  await vi.waitUntil(() => asked() > 2, { timeout: 30_000 })
  expect(logged.filter((line) => line.includes('refuses to tell'))).toHaveLength(1)
  proxies[0].lie = (_, answer) => answer
  await hear(1)
})

it.each([1, 2])('does not take web pages of all %i endpoints for answers', async (count) => {
  await open(count)
  const said = vi.waitUntil(() => health.length > 0 || logged.length > 0, { timeout: 30_000 })
  for (const proxy of proxies) proxy.mood = 'page'
  await said
  await expect(registries.streams.getStream(streamOf('page'))).rejects.toMatchObject({
    code: 'CHAIN_UNREACHABLE',
    message: expect.stringContaining('not valid JSON'),
  })
  for (const proxy of proxies) proxy.mood = undefined
  await vi.waitUntil(() => health.length > 1, { timeout: 30_000 })
  expect(health.map(({ state }) => state)).toEqual(['unreachable', 'reachable'])
  expect(logged.filter((line) => line.includes('refuses'))).toEqual([])
})

describe.each([2, 3])('%i endpoints', (count) => {
  it('lose no event and repeat none while endpoints die, lag and come back', async () => {
    await open(count)
    const paths = ['a', 'b', 'c', 'd'].map((name) => `events-${count}/${name}`)
    const [a = '', b = '', c = '', d = ''] = paths
    await create(a)
    await hear(1)
    proxies[0].mood = 'dead'
    await create(b)
    await hear(2)
    // It comes back with the blocks that it had.
    proxies[0].maxBlock = await chain.provider.getBlockNumber()
    proxies[0].mood = undefined
    await create(c)
    await hear(3)
    proxies[0].maxBlock = Infinity
    await create(d)
    await hear(4)
    expect(heard).toEqual(paths.map((path) => ({ kind: 'stream', streamId: streamOf(path) })))
    expect(health).toEqual([])
    expect(logged.filter((line) => line.includes('secret-key'))).toEqual([])
    const origin = new URL(proxies[0].url).origin
    expect(logged[0]).toMatch(
      new RegExp(
        `^an endpoint of the chain failed; others are used instead .*"endpoint":"${origin}".*"state":"failing"`,
      ),
    )
  })

  it('read their own change at once, also where the first endpoint is behind', async () => {
    await open(count)
    const path = `own-${count}`
    const streamId = streamOf(path)
    await create(path)
    proxies[0].maxBlock = await chain.provider.getBlockNumber()
    const user = chain.accounts[1].nodeId
    const grant = { user, permissions: ['publish'], untilMs: Infinity } as const
    await registries.streams.grant(streamId, grant)
    expect(await registries.streams.permissionsOf(streamId, user)).toMatchObject({ publishUntilMs: Infinity })
    expect((await registries.streams.permissionTable(streamId)).entries.map((one) => one.user)).toContain(
      user,
    )
  })
})

describe('three endpoints', () => {
  it('believe two of them about who may publish', async () => {
    await open(3)
    const streamId = streamOf('believed')
    await create('believed')
    const user = chain.accounts[1].nodeId
    await mined(chain.streams.grantPermission(streamId, user, Permission.publish, 2n ** 64n - 1n))
    // It says of everybody that there is no permission.
    proxies[0].lie = (asked, answer) =>
      asked.method === 'eth_call' ? { ...answer, result: `0x${'0'.repeat(64 * 5)}` } : answer
    const states = () => registries.endpoints?.().map(({ state }) => state)
    while (states()?.[0] !== 'differs')
      expect(await registries.streams.permissionsOf(streamId, user)).toMatchObject({
        publishUntilMs: Infinity,
      })
    expect(states()).toEqual(['differs', 'ok', 'ok'])
    expect(health).toEqual([])
  })

  it('say what they do not agree on, and go on when they do', async () => {
    await open(3)
    const streamId = streamOf('disputed')
    await create('disputed')
    const user = chain.accounts[1].nodeId
    for (const [i, proxy] of proxies.entries())
      proxy.lie = (asked, answer) =>
        asked.method === 'eth_call' ? { ...answer, result: `0x${`${i}`.repeat(64 * 5)}` } : answer
    await expect(registries.streams.permissionsOf(streamId, user)).rejects.toMatchObject({
      code: 'CHAIN_DISPUTED',
    })
    expect(health).toMatchObject([{ state: 'unreachable', error: { code: 'CHAIN_DISPUTED' } }])
    expect(String(health[0]?.error)).not.toContain('secret-key')
    for (const proxy of proxies) proxy.lie = (_, answer) => answer
    expect(await registries.streams.permissionsOf(streamId, user)).toMatchObject({ publishUntilMs: 0 })
    expect(health.at(-1)).toMatchObject({ state: 'reachable' })
  })

  it('are refused where they serve another chain than is configured', async () => {
    await expect(open(3, 1)).rejects.toMatchObject({ code: 'CHAIN_MISMATCH' })
  })
})
