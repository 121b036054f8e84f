import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient, type Message, type RunnelClient } from '@runnel/client'
import { addressOf, createIdentity, generatePrivateKey, loadCrypto } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker, type Tracker } from '@runnel/tracker'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { newDirectory, runRunnel, startRunnel, stopAll, type RunningCommand } from './cli.testkit.ts'

const crypto = await loadCrypto()
const owner = `0x${'a'.repeat(40)}`
const stream = `${owner}/data`
const timeoutMs = 120_000

describe('light clients of brokers', { timeout: timeoutMs }, () => {
  const directory = newDirectory()
  const network = join(directory, 'network.json')
  const identity = createIdentity(generatePrivateKey(systemRandom), crypto)
  const clients: RunnelClient[] = []
  let tracker: Tracker

  beforeAll(async () => {
    tracker = createTracker(
      { listen: { port: 0 } },
      { identity, crypto, clock: systemClock, random: systemRandom },
    )
    await tracker.start()
    writeFileSync(network, JSON.stringify(documentOf([{ nodeId: identity.nodeId, url: tracker.url }])))
  })
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close()
    await stopAll()
  })
  afterAll(() => tracker.stop())

  const documentOf = (
    trackers: { nodeId: string; url: string }[],
    storageNodes: { nodeId: string; url: string }[] = [],
  ) => ({
    version: 1 as const,
    trackers,
    streams: [
      { id: stream, permissions: [{ user: 'public', publish: true, subscribe: true }], storageNodes },
    ],
  })

  /** A broker that serves guests, unless told otherwise, and its URL. */
  async function startHost(
    serves = '--guests-serve',
  ): Promise<{ readonly command: RunningCommand; readonly url: string }> {
    const flags = [serves, '--websocket-port', '0', '--no-webrtc-enabled', '--no-http-enabled']
    const command = startRunnel(['node', '--network', network, ...flags, '--log-format', 'json'])
    await command.said('the node is running')
    const url = /ws:\/\/127\.0\.0\.1:\d+/.exec(command.stderr() + command.stdout())?.[0]
    return { command, url: url ?? expect.fail(command.stderr()) }
  }

  async function start(via?: readonly string[]): Promise<RunnelClient> {
    const trackers = via === undefined ? [{ nodeId: identity.nodeId, url: tracker.url }] : []
    const client = await createClient({
      network: { kind: 'static', document: documentOf(trackers) },
      ...(via === undefined
        ? { transports: { websocket: { listen: { host: '127.0.0.1', port: 0 } }, webrtc: false } }
        : { via }),
    })
    clients.push(client)
    return client
  }

  it('lose nothing and get nothing twice when one of two hosts is killed, whichever it is', async () => {
    for (const killed of [0, 1]) {
      const hosts = [await startHost(), await startHost()]
      const [member, light] = [await start(), await start(hosts.map(({ url }) => url))]
      const got: number[] = []
      const echoed: number[] = []
      const count = 300
      const all = Promise.withResolvers<undefined>()
      const takeOf = (publisher: RunnelClient, to: number[]) => (message: Message<unknown>) => {
        if (message.publisherId !== publisher.userId) return
        to.push(message.content as number)
        if (got.length >= count && echoed.length >= count) all.resolve(undefined)
      }
      const here = await light.subscribe(stream, {}, takeOf(member, got))
      const there = await member.subscribe(stream, {}, takeOf(light, echoed))
      await light.network.waitForNeighbours(here.streamPartIds[0] as never, { count: 2 })
      await member.network.waitForNeighbours(there.streamPartIds[0] as never, { count: 2 })
      for (let n = 0; n < count; n++) {
        if (n === count / 3) hosts[killed]?.command.process.kill('SIGKILL')
        await Promise.all([member.publish(stream, n), light.publish(stream, n)])
      }
      await all.promise
      const expected = Array.from({ length: count }, (_, n) => n)
      expect(got).toEqual(expected)
      expect(echoed).toEqual(expected)
      expect(light.hosts.map(({ url }) => url)).toEqual([hosts[1 - killed]?.url])
      await Promise.all(clients.splice(0).map((client) => client.close()))
      await stopAll()
    }
  })

  it('are for the command line: --via needs no tracker', async () => {
    const host = await startHost()
    const alone = join(directory, 'without-trackers.json')
    writeFileSync(alone, JSON.stringify(documentOf([])))
    const options = ['--network', alone, '--via', host.url]
    const reader = startRunnel(['subscribe', stream, '--count', '1', ...options])
    await reader.said('subscribed to')
    expect(await runRunnel(['publish', stream, '{"t":21}', ...options])).toMatchObject({ code: 0 })
    expect(await reader.ended).toMatchObject({ code: 0, stdout: '{"t":21}\n' })
    const nowhere = ['--network', alone, '--via', 'ws://127.0.0.1:1']
    const { code, stderr } = await runRunnel(['publish', stream, '1', ...nowhere])
    expect(code).toBe(69)
    expect(stderr).toContain('HOST_UNREACHABLE')
    for (const [url, right] of [
      ['http://127.0.0.1:1', 'ws://127.0.0.1:1'],
      ['127.0.0.1:1', 'ws://, wss:// or tcp://'],
    ] as const) {
      const refused = await runRunnel(['publish', stream, '1', '--network', alone, '--via', url])
      expect([refused.code, refused.stderr]).toEqual([64, expect.stringContaining(right)])
    }
  })

  it('reach a host by plain TCP', async () => {
    const host = await createClient({
      network: { kind: 'static', document: documentOf([{ nodeId: identity.nodeId, url: tracker.url }]) },
      transports: { tcp: { listen: { host: '127.0.0.1', port: 0 } }, webrtc: false },
      guests: { serve: true },
    })
    clients.push(host)
    const via = addressOf(host.network.contact, 'tcp') ?? expect.fail('listens nowhere')
    expect(await runRunnel(['publish', stream, '1', '--network', network, '--via', via])).toMatchObject({
      code: 0,
    })
  })

  it('are told when a host serves no guests, also where there are trackers', async () => {
    const { url } = await startHost('--no-guests-serve')
    const stored = join(directory, 'stored.json')
    const document = documentOf(
      [{ nodeId: identity.nodeId, url: tracker.url }],
      [{ nodeId: `0x${'b'.repeat(40)}`, url: 'ws://127.0.0.1:1' }],
    )
    writeFileSync(stored, JSON.stringify(document))
    const options = ['--network', stored, '--via', url]
    expect(await runRunnel(['publish', stream, '1', ...options])).toMatchObject({
      code: 69,
      stderr: expect.stringContaining('HOST_UNREACHABLE'),
    })
  })
})
