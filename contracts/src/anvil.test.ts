import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { connect as connectTcp } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Wallet } from 'ethers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { startAnvil, type Anvil, type AnvilOptions } from './anvil.ts'
import { chainTimeoutMs, connect, mined } from './chain.testkit.ts'
import { deployRegistries } from './deploy.ts'
import { streamRegistry } from './registries.ts'

vi.setConfig({ testTimeout: chainTimeoutMs, hookTimeout: chainTimeoutMs })

let directory = ''
let started: Anvil[] = []

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'runnel-anvil-'))
})
afterEach(async () => {
  await Promise.all(started.map((anvil) => anvil.stop()))
  started = []
  await rm(directory, { recursive: true })
})

async function start(options?: AnvilOptions): Promise<Anvil> {
  const anvil = await startAnvil(options)
  started.push(anvil)
  return anvil
}

/** One JSON-RPC call without a client that would retry. */
async function rpc(url: string, method: string): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] })
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const { result } = (await response.json()) as { result: unknown }
  return result
}

/** Resolves once a connection to the chain, open by then, has been cut: the chain is gone. */
async function watchEnd(url: string): Promise<{ ended: Promise<unknown> }> {
  const socket = connectTcp(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  return { ended: new Promise((resolve) => socket.once('close', resolve)) }
}

describe('startAnvil', () => {
  it('listens on a free port and funds the accounts whose keys it returns', async () => {
    const [one, other] = await Promise.all([start(), start({ chainId: 4711 })])
    expect(one.url).not.toBe(other.url)
    expect(await rpc(one.url, 'eth_chainId')).toBe('0x7a69')
    expect(await rpc(other.url, 'eth_chainId')).toBe('0x1267')
    const addresses = one.privateKeys.map((key) => new Wallet(key).address.toLowerCase())
    expect(addresses).toHaveLength(10)
    expect(await rpc(one.url, 'eth_accounts')).toEqual(addresses)
  })

  it('stops once, however often it is asked, and can then be started on the same port', async () => {
    const anvil = await start()
    await Promise.all([anvil.stop(), anvil.stop()])
    await anvil.stop()
    expect(await anvil.closed()).toBeUndefined()
    await expect(rpc(anvil.url, 'eth_chainId')).rejects.toThrow()
    const port = Number(new URL(anvil.url).port)
    expect((await start({ port })).url).toBe(anvil.url)
  })

  it('goes on from the state file of an earlier run', async () => {
    const stateFile = join(directory, 'not', 'yet', 'state.json')
    const first = await start({ stateFile })
    const addresses = await withWallet(first, async (wallet) => {
      const deployed = await deployRegistries(wallet)
      await mined(streamRegistry(deployed.streamRegistry, wallet).createStream('kept', '', 3, []))
      return deployed
    })
    await first.stop()
    expect((await stat(stateFile)).size).toBeGreaterThan(0)
    const second = await start({ stateFile })
    const partitions = await withWallet(second, async (wallet) => {
      const streamId = `${wallet.address.toLowerCase()}/kept`
      return (await streamRegistry(addresses.streamRegistry, wallet).getStream(streamId)).partitions
    })
    expect(partitions).toBe(3n)
  })

  it('tells when its port is taken', async () => {
    const { url } = await start()
    await expect(startAnvil({ port: Number(new URL(url).port) })).rejects.toMatchObject({
      name: 'ContractsError',
      code: 'CHAIN_PORT_TAKEN',
    })
  })

  it('tells what anvil said when it does not start', async () => {
    const broken = join(directory, 'broken.json')
    await writeFile(broken, 'not a state')
    await expect(startAnvil({ stateFile: broken })).rejects.toMatchObject({ code: 'CHAIN_START_FAILED' })
    await expect(startAnvil({ host: 'not an address' })).rejects.toMatchObject({
      code: 'CHAIN_START_FAILED',
      message: expect.stringContaining('not an address'),
    })
    await expect(startAnvil({ stateFile: join(broken, 'below-a-file') })).rejects.toMatchObject({
      code: 'CHAIN_START_FAILED',
    })
  })

  it('is called off by a signal, before and during the start', async () => {
    await expect(startAnvil({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'CHAIN_ABORTED' })
    const controller = new AbortController()
    const starting = startAnvil({ signal: controller.signal })
    controller.abort(new Error('enough'))
    await expect(starting).rejects.toMatchObject({ code: 'CHAIN_ABORTED', cause: new Error('enough') })
  })

  it('is stopped by a signal', async () => {
    const controller = new AbortController()
    const anvil = await start({ signal: controller.signal })
    controller.abort()
    expect(await anvil.closed()).toBeUndefined()
    await expect(rpc(anvil.url, 'eth_chainId')).rejects.toThrow()
  })

  it('tells when it ended by itself', async () => {
    const anvil = await start()
    if (anvil.pid === undefined) throw new Error('A running chain has a process id')
    process.kill(anvil.pid, 'SIGKILL')
    expect(await anvil.closed()).toMatchObject({ code: 'CHAIN_DIED' })
    await anvil.stop()
  })

  it('ends when the process that started it is killed', async () => {
    const module = new URL('./anvil.ts', import.meta.url).href
    const script = `import { startAnvil } from ${JSON.stringify(module)}
      console.log((await startAnvil()).url)`
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'pipe' })
    const [line] = (await once(parent.stdout, 'data')) as [Buffer]
    const chain = await watchEnd(line.toString().trim())
    parent.kill('SIGKILL')
    await chain.ended
  })
})

/** Runs a task with the first account of a chain. */
async function withWallet<T>({ url, privateKeys }: Anvil, task: (wallet: Wallet) => Promise<T>): Promise<T> {
  const provider = connect(url)
  try {
    return await task(new Wallet(privateKeys[0] ?? '', provider))
  } finally {
    provider.destroy()
  }
}
