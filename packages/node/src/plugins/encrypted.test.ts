import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createIdentity, generatePrivateKey, loadCrypto, toHex } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker, type Tracker } from '@runnel/tracker'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { newDirectory } from '../cli.testkit.ts'
import { parseConfig } from '../config/load-config.ts'
import type { BrokerConfigInput } from '../config/schema.ts'
import { startBroker, type Broker } from '../node.ts'
import type { NodeSnapshot } from '../snapshot.ts'

const crypto = await loadCrypto()
const newUser = () => {
  const key = generatePrivateKey(systemRandom)
  return { privateKey: toHex(key), ...createIdentity(key, crypto) }
}
const [owner, sensor, watcher] = [newUser(), newUser(), newUser()]
const stream = { each: `${owner.nodeId}/each`, held: `${owner.nodeId}/held` }

describe('a broker', { timeout: 60_000 }, () => {
  const directory = newDirectory()
  const network = join(directory, 'network.json')
  const stops: (() => Promise<unknown>)[] = []
  let tracker: Tracker

  beforeAll(async () => {
    tracker = createTracker(
      { listen: { port: 0 } },
      { identity: newUser(), crypto, clock: systemClock, random: systemRandom },
    )
    await tracker.start()
    const permissions = [
      { user: sensor.nodeId, publish: true },
      { user: watcher.nodeId, subscribe: true },
    ]
    const document = {
      version: 1,
      trackers: [{ nodeId: tracker.nodeId, url: tracker.url }],
      streams: [
        { id: stream.each, permissions },
        {
          id: stream.held,
          metadata: JSON.stringify({ encryption: { keyHolder: owner.nodeId } }),
          permissions,
        },
      ],
    }
    writeFileSync(network, JSON.stringify(document))
  })
  afterEach(async () => {
    for (const stop of stops.splice(0).toReversed()) await stop()
  })
  afterAll(() => tracker.stop())

  /** In the name of a user, whose key is in a file. */
  async function start({ nodeId, privateKey }: typeof owner, config: BrokerConfigInput): Promise<Broker> {
    const as = join(directory, `${nodeId}.key`)
    writeFileSync(as, privateKey.slice(2), { mode: 0o600 })
    const quiet = { logLevel: 'silent', webrtc: { enabled: false }, websocket: { port: 0 } } as const
    const broker = await startBroker(parseConfig({ network, as, http: { port: 0 }, ...quiet, ...config }), {
      env: {},
      directory,
    })
    stops.push(() => broker.stop())
    return broker
  }

  it('publishes to an encrypted stream and reads it, with the reading key of its user', async () => {
    const observing = await start(watcher, { observer: { streams: [stream.each] } })
    const measuring = await start(sensor, {
      measurements: { enabled: true, intervalMs: 50, streams: { load: stream.each } },
    })
    const types: number[] = []
    observing.client.network.on('batch', (_, { chain, messages }) => {
      if (chain.partition === 0) types.push(...messages.map(({ encryptionType }) => encryptionType))
    })
    for (;;) {
      const answer = await fetch(`${observing.httpUrl}/v1/status`)
      const { plugins } = (await answer.json()) as NodeSnapshot
      const [chain] = plugins.observer?.observed ?? []
      if ((chain?.delivered ?? 0) < 3) continue
      expect(chain).toMatchObject({ publisherId: sensor.nodeId, repeated: 0 })
      break
    }
    expect(new Set(types)).toEqual(new Set([2]))
    expect((await measuring.client.keysOf(stream.each)).openers).toMatchObject([{ userId: sensor.nodeId }])
  })

  it('does not start where it should hold the keys of another user', async () => {
    await expect(start(watcher, { keys: { hold: [stream.held] } })).rejects.toMatchObject({
      code: 'NOT_KEY_HOLDER',
      message: expect.stringContaining(owner.nodeId),
    })
  })
})
