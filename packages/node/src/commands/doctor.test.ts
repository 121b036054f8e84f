import { writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { startAnvil } from '@runnel/contracts/anvil'
import { createIdentity, generatePrivateKey, loadCrypto } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker, type Tracker } from '@runnel/tracker'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '@runnel/transport'
import { newDirectory, runRunnel, startRunnel, stopAll } from '../cli.testkit.ts'
import type { Finding } from '../doctor/finding.ts'

const timeoutMs = 120_000
const crypto = await loadCrypto()

describe('runnel doctor', { timeout: timeoutMs }, () => {
  const cwd = newDirectory()
  let tracker: Tracker

  const write = (name: string, value: unknown) => writeFileSync(join(cwd, name), JSON.stringify(value))
  const run = (line: string) => runRunnel(line.split(' '), { cwd })
  async function findings(flags = ''): Promise<{ code: number | null; found: Record<string, string> }> {
    const { code, stdout } = await run(`doctor --json${flags}`)
    const all = JSON.parse(stdout) as Finding[]
    return {
      code,
      found: Object.fromEntries(all.map(({ check, state, message }) => [check, `${state}: ${message}`])),
    }
  }

  beforeAll(async () => {
    const identity = createIdentity(generatePrivateKey(systemRandom), crypto)
    tracker = createTracker(
      { listen: { port: 0 } },
      { identity, crypto, clock: systemClock, random: systemRandom },
    )
    await tracker.start()
    write('network.json', {
      version: 1,
      trackers: [{ nodeId: tracker.nodeId, url: tracker.url }],
      streams: [],
    })
    await run('key new node.key')
    const [websocket, http] = [await freePort(), await freePort()]
    expect(await run(`node init --websocket-port ${websocket} --http-port ${http} --storage`)).toMatchObject({
      code: 0,
    })
  }, timeoutMs)
  afterEach(stopAll)
  afterAll(() => tracker.stop())

  it('finds all well before the start, and while the node runs', async () => {
    const lines = (await run('doctor')).stdout.trimEnd().split('\n')
    expect(lines.filter((line) => !/^(ok|warning) /.test(line))).toEqual([])
    const before = await findings()
    expect(before.code).toBe(0)
    expect(before.found).toMatchObject({
      key: expect.stringMatching(/^ok: node 0x/),
      clock: expect.stringMatching(/^ok/),
      trackers: expect.stringMatching(/^ok: .* answers, with \d+ nodes/),
      'port http': expect.stringMatching(/^ok: .* is free/),
      storage: expect.stringMatching(/^ok: .* will be created at the start/),
    })
    const node = startRunnel(['node', '--log-level', 'warn'], { cwd })
    await node.said('status at')
    const { code, found } = await findings()
    expect([code, found['port websocket'], found['storage']]).toEqual([
      0,
      expect.stringContaining('and this node is running'),
      expect.stringContaining('in use by this node'),
    ])
  })

  it('ends with 1 and says what to do where something is wrong', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const { port } = taken.address() as AddressInfo
    write('away.json', {
      version: 1,
      trackers: [{ nodeId: tracker.nodeId, url: `ws://127.0.0.1:${port}` }],
      streams: [],
    })
    const { code, stdout } = await run(`doctor --network away.json --http-port ${port} --key gone.key`)
    taken.close()
    expect(code).toBe(1)
    expect(stdout).toMatch(/^error {4}key .*\(KEY_FILE_MISSING\)\. /m)
    expect(stdout).toMatch(/^error {4}port http .*EADDRINUSE.*ss -ltnp/m)
    expect(stdout).toMatch(/^error {4}trackers .*does not accept WebSockets: \w/m)
  })

  it('finds the wrong chain, one without registries, and a configuration that is wrong', async () => {
    const chain = await startAnvil()
    const address = `0x${'1'.repeat(40)}`
    const registries = { trackerRegistry: address, streamRegistry: address, storageRegistry: address }
    write('other.json', { version: 1, chain: { rpcUrl: chain.url, chainId: 1, registries } })
    write('empty.json', { version: 1, chain: { rpcUrl: chain.url, registries } })
    const [other, empty] = [await findings(' --network other.json'), await findings(' --network empty.json')]
    await chain.stop()
    expect([other.code, other.found['chain'], other.found['clock']]).toEqual([
      1,
      expect.stringContaining('(CHAIN_MISMATCH)'),
      expect.stringMatching(/^ok/),
    ])
    expect(empty.found['chain']).toContain('(REGISTRY_MISSING)')
    expect((await findings(' --network other.json')).found['chain']).toContain('(CHAIN_UNREACHABLE)')
    expect((await findings(' --http-port 70000')).found).toEqual({
      configuration: expect.stringContaining('(CONFIG_INVALID)'),
    })
  })
})
