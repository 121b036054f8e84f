import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createIdentity, generatePrivateKey, loadCrypto, toStreamId, toStreamPartId } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker, type Tracker } from '@runnel/tracker'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newDirectory } from './cli.testkit.ts'
import { parseConfig } from './config/load-config.ts'
import type { BrokerConfigInput } from './config/schema.ts'
import { startBroker, type Broker } from './node.ts'

const crypto = await loadCrypto()
const owner = `0x${'a'.repeat(40)}`
const streams = [
  { id: `${owner}/data`, permissions: [{ user: 'public', publish: true, subscribe: true }] },
  { id: `${owner}/other`, permissions: [{ user: 'public', publish: true, subscribe: true }] },
]
const part = toStreamPartId(toStreamId(`${owner}/data`), 0)

/** Neither dialled by others, nor of use to them by UDP. */
const closed = { websocket: { listen: false }, webrtc: { enabled: false } }

describe('brokers that nobody can dial', { timeout: 60_000 }, () => {
  const directory = newDirectory()
  const network = join(directory, 'network.json')
  const identity = createIdentity(generatePrivateKey(systemRandom), crypto)
  const brokers: Broker[] = []
  let tracker: Tracker

  beforeEach(async () => {
    const modules = { identity, crypto, clock: systemClock, random: systemRandom }
    tracker = createTracker({ listen: { port: 0 } }, modules)
    await tracker.start()
    const trackers = [{ nodeId: identity.nodeId, url: tracker.url }]
    writeFileSync(network, JSON.stringify({ version: 1, trackers, streams }))
  })
  afterEach(async () => {
    for (const broker of brokers.splice(0)) await broker.stop()
    await tracker.stop()
  })

  async function start(stream: string, more: BrokerConfigInput): Promise<Broker> {
    const config = parseConfig({
      ...{ network, logLevel: 'silent', http: { enabled: false } },
      ...{ streams: [`${owner}/${stream}`], ...more },
    })
    const broker = await startBroker(config, { env: {}, directory })
    brokers.push(broker)
    return broker
  }
  const startCarrier = () =>
    start('other', { websocket: { port: 0 }, webrtc: { enabled: false }, circuits: { carry: true } })
  /** Resolves when both are neighbours. */
  const linked = (pair: readonly Broker[]) =>
    Promise.all(
      pair.map(async ({ client }) => {
        await client.joinStreamPart(`${owner}/data`, 0)
        await client.network.waitForNeighbours(part)
      }),
    )
  const waysOf = ({ client }: Broker) =>
    client.network
      .metrics()
      .streamParts.flatMap(({ neighbours }) => neighbours.map(({ transport }) => transport))

  it.each([
    ['before them', true],
    ['after them', false],
  ])('are linked over one that offers to carry circuits, which came %s', async (_, isFirst) => {
    const first = isFirst ? await startCarrier() : undefined
    const [a, b] = [await start('data', closed), await start('data', closed)]
    const carrier = first ?? (await startCarrier())
    await linked([a, b])
    expect([a, b].map(waysOf)).toEqual([['circuit'], ['circuit']])
    const subscription = await b.client.subscribe(`${owner}/data`)
    await a.client.publish(`${owner}/data`, 'over a circuit')
    for await (const { content } of subscription) {
      expect(content).toBe('over a circuit')
      break
    }
    const { counters } = carrier.client.network.metrics()
    expect(counters).toMatchObject({ 'circuits.open': 1, 'circuits.opened': 1, 'circuits.evicted': 0 })
    expect(counters['circuits.bytes']).toBeGreaterThan(500)
  })

  it('are dialled over a carrier that is configured', async () => {
    const carrier = await startCarrier()
    const { addresses } = carrier.client.network.contact
    const carriers = addresses.filter(({ kind }) => kind === 'carrier').map(({ text }) => text)
    expect(carriers).toHaveLength(1)
    const [a, b] = [
      await start('data', { ...closed, circuits: { carriers } }),
      await start('data', { ...closed, circuits: { carriers } }),
    ]
    await linked([a, b])
    expect([a, b].map(waysOf)).toEqual([['circuit'], ['circuit']])
  })
})
