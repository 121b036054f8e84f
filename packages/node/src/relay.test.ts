import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createIdentity, generatePrivateKey, loadCrypto, toStreamId } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker, type Tracker } from '@runnel/tracker'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { newDirectory } from './cli.testkit.ts'
import { parseConfig } from './config/load-config.ts'
import type { BrokerConfigInput } from './config/schema.ts'
import { startBroker, type Broker } from './node.ts'

const crypto = await loadCrypto()
const owner = `0x${'a'.repeat(40)}`
const streams = [
  { id: `${owner}/open/a`, partitions: 2, permissions: [{ user: 'public', publish: true, subscribe: true }] },
  { id: `${owner}/closed`, permissions: [] },
]

describe('a broker with streams to relay', { timeout: 60_000 }, () => {
  const directory = newDirectory()
  const network = join(directory, 'network.json')
  const identity = createIdentity(generatePrivateKey(systemRandom), crypto)
  const brokers: Broker[] = []
  let tracker: Tracker

  const startTracker = async (port: number) => {
    const modules = { identity, crypto, clock: systemClock, random: systemRandom }
    tracker = createTracker({ listen: { port } }, modules)
    await tracker.start()
  }

  beforeEach(async () => {
    await startTracker(0)
    const trackers = [{ nodeId: identity.nodeId, url: tracker.url }]
    writeFileSync(network, JSON.stringify({ version: 1, trackers, streams }))
  })
  afterEach(async () => {
    for (const broker of brokers.splice(0)) await broker.stop()
    await tracker.stop()
  })

  async function start(streamsToRelay: string[], more: BrokerConfigInput = {}): Promise<Broker> {
    const quiet = { logLevel: 'silent', webrtc: { enabled: false }, websocket: { port: 0 } } as const
    const config = parseConfig({ network, http: { port: 0 }, ...quiet, streams: streamsToRelay, ...more })
    const broker = await startBroker(config, { env: {}, directory })
    brokers.push(broker)
    return broker
  }
  /** Asks until it answers so. */
  async function untilReady({ httpUrl }: Broker, status: number): Promise<unknown> {
    for (;;) {
      const answer = await fetch(`${httpUrl}/ready`)
      const body: unknown = await answer.json()
      if (answer.status === status) return body
    }
  }

  it('is told apart at its tracker, by its name and its version', async () => {
    await start([`${owner}/open/a`], { name: 'Attic, 2nd box' })
    await start([`${owner}/open/a`])
    const nodes = async () => {
      const answer = await fetch(`${tracker.httpUrl}/v1/nodes`)
      const { nodes } = (await answer.json()) as { nodes: Record<string, unknown>[] }
      return nodes.map(({ role, version, name }) => ({ role, version, name }))
    }
    const of = (name: string | null) => ({ role: 'node', version: expect.stringMatching(/^\d+\./), name })
    await expect
      .poll(nodes, { timeout: 30_000 })
      .toEqual(expect.arrayContaining([of('Attic, 2nd box'), of(null)]))
  })

  it('is in all partitions of what everybody may read, with others as neighbours', async () => {
    const [a, b] = [await start([`${owner}/*`]), await start([`${owner}/open/a`])]
    for (const partition of [0, 1]) {
      const part =
        `${toStreamId(`${owner}/open/a`)}#${partition}` as (typeof a.client.network.streamParts)[number]
      await vi.waitUntil(
        () => [a, b].every(({ client }) => client.network.streamParts.includes(part)),
        30_000,
      )
      await Promise.all([a, b].map(({ client }) => client.network.waitForNeighbours(part)))
    }
    expect(
      a
        .snapshot()
        .streams.followed.map(({ state }) => state)
        .sort(),
    ).toEqual(['denied', 'joined'])
    expect(await untilReady(a, 200)).toEqual({ ready: true, nodeId: a.nodeId, reasons: [] })
    const health = (await (await fetch(`${a.httpUrl}/health`)).json()) as object
    expect(health).toMatchObject({ status: 'ok', streams: 1, streamParts: 2, trackers: [identity.nodeId] })
  })

  it('is not ready, but alive, while its tracker is stopped', async () => {
    const broker = await start([`${owner}/open/a`])
    await untilReady(broker, 200)
    const port = Number(new URL(tracker.url).port)
    await tracker.stop()
    expect(await untilReady(broker, 503)).toMatchObject({ ready: false, reasons: [{ code: 'NO_TRACKER' }] })
    const health = await fetch(`${broker.httpUrl}/health`)
    expect([health.status, await health.json()]).toEqual([200, expect.objectContaining({ trackers: [] })])
    await startTracker(port)
    await untilReady(broker, 200)
  })

  it('is connected to a tracker with no stream at all', async () => {
    const broker = await start([])
    await untilReady(broker, 200)
    expect(broker.snapshot().streamParts).toEqual([])
  })

  it('is not ready, but alive, while its store does not open', async () => {
    const store = newDirectory()
    writeFileSync(
      join(store, 'messages.sqlite'),
      'this is no database, and longer than the header of one '.repeat(9),
    )
    const broker = await start([], { storage: { enabled: true, directory: store } })
    expect(await untilReady(broker, 503)).toMatchObject({
      reasons: expect.arrayContaining([expect.objectContaining({ code: 'STORAGE_FAILED' })]),
    })
    expect((await fetch(`${broker.httpUrl}/health`)).status).toBe(200)
    expect(await (await fetch(`${broker.httpUrl}/metrics`)).text()).toContain('runnel_ready 0')
  })
})
