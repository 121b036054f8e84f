import type { RunnelClient } from '@runnel/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseConfig } from './config/load-config.ts'
import { startBroker, type Broker } from './node.ts'
import type { NodeSnapshot } from './snapshot.ts'
import { StorageNetwork } from './storage-network.testkit.ts'

describe('a broker with the streams of an owner, on a chain', { timeout: 60_000 }, () => {
  const network = new StorageNetwork()
  let owner: RunnelClient
  let broker: Broker

  beforeAll(async () => {
    await network.start()
    owner = await network.client({ privateKey: network.newKey() })
    const config = parseConfig({
      ...{ network: network.networkFile, logLevel: 'silent', http: { port: 0 } },
      ...{ websocket: { port: 0 }, webrtc: { enabled: false }, streams: [`${owner.userId}/rooms/*`] },
    })
    broker = await startBroker(config, { env: {}, directory: network.directory })
  }, 120_000)
  afterAll(async () => {
    await broker.stop()
    await network.stop()
  })

  /** Asks the node until it says so of its streams. */
  async function until(states: Readonly<Record<string, string>>): Promise<void> {
    for (;;) {
      const answer = await fetch(`${broker.httpUrl}/v1/status`)
      const { streams, streamParts } = (await answer.json()) as NodeSnapshot
      const now = streams.followed.map((one) => [one.streamId.slice(43), `${one.state} ${one.partitions}`])
      if (JSON.stringify(Object.fromEntries(now)) !== JSON.stringify(states)) continue
      expect(streamParts).toHaveLength(streams.followed.reduce((sum, { partitions }) => sum + partitions, 0))
      return
    }
  }

  it('joins what is created and permitted later, and leaves what is deleted', async () => {
    await until({})
    await owner.createStream({ id: '/rooms/1', partitions: 3 })
    await owner.createStream({ id: '/other' })
    await until({ 'rooms/1': 'denied 0' })
    await owner.grant('/rooms/1', { user: 'public', permissions: ['subscribe'] })
    await until({ 'rooms/1': 'joined 3' })
    await owner.revoke('/rooms/1', { user: 'public', permissions: ['subscribe'] })
    await until({ 'rooms/1': 'denied 0' })
    await owner.grant('/rooms/1', { user: broker.client.userId, permissions: ['subscribe'] })
    await until({ 'rooms/1': 'joined 3' })
    await owner.deleteStream('/rooms/1')
    await until({})
  })
})
