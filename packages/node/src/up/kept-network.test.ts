import { createServer, type AddressInfo } from 'node:net'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { toNodeId } from '@runnel/protocol'
import { afterAll, describe, expect, it } from 'vitest'
import { newDirectory, runRunnel, startRunnel, stopAll } from '../cli.testkit.ts'
import { claimDirectory } from './directory.ts'
import { openChain, portsFor, readKept, writeKept, type KeptNetwork } from './kept-network.ts'

/** Starting a network of processes takes its time on a busy machine. */
const timeoutMs = 240_000
const signal = new AbortController().signal
const registry = `0x${'1'.repeat(40)}`
const kept: KeptNetwork = {
  chain: {
    chainId: 31337,
    registries: { trackerRegistry: registry, streamRegistry: registry, storageRegistry: registry },
  },
  block: 0,
  ports: { chain: 1_024, trackers: [1_025], storage: 1_026 },
  registered: {
    trackers: [{ nodeId: toNodeId(registry), url: 'ws://127.0.0.1:1025' }],
    storageUrl: 'ws://127.0.0.1:1026',
  },
}

afterAll(stopAll, timeoutMs)

describe('what a network keeps', () => {
  it('is read back, for a network of the same kind, when the chain is there', () => {
    const directory = claimDirectory(newDirectory())
    expect(readKept(directory, false)).toBeUndefined()
    writeKept(directory, kept)
    expect(readKept(directory, false)).toBeUndefined()
    directory.writeJson('chain.json', {})
    expect(readKept(directory, false)).toEqual(kept)
    expect(readKept(directory, true)).toBeUndefined()
    writeFileSync(join(directory.path, 'kept.json'), '{"chain":')
    expect(readKept(directory, false)).toBeUndefined()
  })

  it('begins anew with a chain that does not start, or that lost what was kept of it', async () => {
    const directory = claimDirectory(newDirectory())
    writeFileSync(join(directory.path, 'chain.json'), '{"half":')
    const first = await openChain(directory, kept, { port: 0, signal })
    expect(first.kept).toBeUndefined()
    await first.chain.stop()
    const same = await openChain(directory, kept, { port: 0, signal })
    expect(same).toMatchObject({ kept, isAsKept: true })
    await same.chain.stop()
    const behind = await openChain(directory, { ...kept, block: 5 }, { port: 0, signal })
    expect(behind.kept).toBeUndefined()
    await behind.chain.stop()
    expect(existsSync(join(directory.path, 'chain.json.old'))).toBe(true)
  })

  it('outlasts a start that is called off, or fails whatever was kept', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const { port } = taken.address() as AddressInfo
    const directory = claimDirectory(newDirectory())
    writeKept(directory, kept)
    directory.writeJson('chain.json', {})
    for (const [options, code] of [
      [{ port: 0, signal: AbortSignal.abort() }, 'CHAIN_ABORTED'],
      [{ port, signal }, 'CHAIN_PORT_TAKEN'],
      [{ port: 65_536, signal }, 'CHAIN_START_FAILED'],
    ] as const) {
      await expect(openChain(directory, kept, options)).rejects.toMatchObject({ code })
      expect(readKept(directory, false)).toEqual(kept)
    }
    await new Promise((resolve) => taken.close(resolve))
  })

  it('asks for the same ports again, but for those that somebody else has taken', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const { port } = taken.address() as AddressInfo
    const ports = { chain: port, trackers: [port], storage: port }
    const asked = { chainPort: 0, trackerPort: 0, trackers: 2 }
    expect(await portsFor(asked, ports)).toEqual({ chain: 0, trackers: [0, 0], storage: 0 })
    await new Promise((resolve) => taken.close(resolve))
    expect(await portsFor(asked, ports)).toEqual({ chain: port, trackers: [port, 0], storage: port })
    expect(await portsFor({ chainPort: 7, trackerPort: 8, trackers: 2 }, ports)).toMatchObject({
      ...{ chain: 7, trackers: [8, 9] },
    })
  })
})

describe('starting a network again', { timeout: timeoutMs }, () => {
  it('finds streams, and people find the network, where they were', async () => {
    const cwd = newDirectory()
    const start = async () => {
      const up = startRunnel(['up', '--nodes', '2', '--trackers', '1', '--json'], { cwd })
      await up.said('"delivered"')
      const [network = '', figures = ''] = up.stdout().split('\n')
      expect(JSON.parse(figures)).toMatchObject({ nodes: 3, lost: 0 })
      const { chain, trackers, streams, networkFile } = JSON.parse(network) as Record<string, string>
      return { up, network: { chain, trackers, streams, networkFile: networkFile ?? '' } }
    }
    const stop = async ({ up }: Awaited<ReturnType<typeof start>>) => {
      up.process.kill('SIGINT')
      expect(await up.ended).toMatchObject({ code: 0 })
      return up.stderr()
    }
    const first = await start()
    const options = ['--network', first.network.networkFile, '--key', join(cwd, '.runnel/up/keys/owner.key')]
    const made = await runRunnel(['stream', 'create', '/mine', ...options], { cwd })
    expect(await stop(first)).toContain('registering trackers and streams')

    const second = await start()
    expect(second.network).toEqual(first.network)
    expect(await runRunnel(['stream', 'show', made.stdout.trim(), ...options], { cwd })).toMatchObject({
      code: 0,
    })
    await stop(second)

    const third = await start()
    expect(third.network).toEqual(first.network)
    expect(await stop(third)).not.toContain('registering trackers and streams')
    expect(existsSync(join(cwd, '.runnel/up/kept.json'))).toBe(true)
    expect(readFileSync(first.network.networkFile, 'utf8')).toContain(first.network.chain ?? '')
  })
})
