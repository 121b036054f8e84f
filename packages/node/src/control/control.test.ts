import { createIdentity, generatePrivateKey, loadCrypto, toStreamId, toStreamPartId } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker } from '@runnel/tracker'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { parseConfig } from '../config/load-config.ts'
import { startBroker, type Broker } from '../node.ts'
import type { NodeControl, NodeMeasurements } from './node-control.ts'
import { createTrackerControl } from './tracker-control.ts'

const crypto = await loadCrypto()
const identity = createIdentity(generatePrivateKey(systemRandom), crypto)
const streamId = toStreamId(`${identity.nodeId}/experiment`)
const streamPartId = toStreamPartId(streamId, 0)
const tracker = createTracker(
  { listen: { port: 0 }, overlay: 'random' },
  { identity, crypto, clock: systemClock, random: systemRandom },
)
const trackerControl = createTrackerControl({ host: '127.0.0.1', port: 0 }, { tracker })
const directory = mkdtempSync(join(tmpdir(), 'runnel-controlled-'))
const brokers: Broker[] = []

async function tell<Answer = unknown>(url: string | undefined, path: string, body?: object): Promise<Answer> {
  const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const response = await fetch(`${url}/v1/control${path}`, body === undefined ? {} : post)
  const answer: unknown = await response.json()
  if (!response.ok) throw new Error(JSON.stringify(answer))
  return answer as Answer
}

beforeAll(async () => {
  await tracker.start()
  await trackerControl.start()
  const network = join(directory, 'network.json')
  const permissions = [{ user: 'public', publish: true, subscribe: true }]
  const trackers = [{ nodeId: tracker.nodeId, url: tracker.url }]
  writeFileSync(network, JSON.stringify({ version: 1, trackers, streams: [{ id: streamId, permissions }] }))
  for (let index = 0; index < 3; index++) {
    const config = {
      ...{ network, logLevel: 'silent', http: { enabled: false } },
      websocket: { port: 0 },
      control: { enabled: true, port: 0 },
    }
    brokers.push(await startBroker(parseConfig(config), { env: {} }))
  }
})
afterAll(async () => {
  for (const broker of brokers) await broker.stop()
  await trackerControl.stop()
  await tracker.stop()
  rmSync(directory, { recursive: true })
})

const infoOf = ({ controlUrl }: Broker) => tell<ReturnType<NodeControl['info']>>(controlUrl, '')
const measurementsOf = ({ controlUrl }: Broker) => tell<NodeMeasurements>(controlUrl, '/measurements')

describe('nodes that obey', () => {
  it('join, publish, measure, and forget', async () => {
    await Promise.all(brokers.map(({ controlUrl }) => tell(controlUrl, '/join', { streamPartId })))
    await vi.waitUntil(
      async () => {
        const infos = await Promise.all(brokers.map(infoOf))
        return infos.every(
          ({ links, knownClocks, streamParts }) =>
            streamParts[0]?.neighbours.length === 2 && links === 2 && knownClocks === 2,
        )
      },
      { timeout: 60_000 },
    )
    const series = { streamPartId, messages: 3, intervalMs: 1, bytes: 40 }
    await tell(brokers[0]?.controlUrl, '/publish', series)
    await vi.waitUntil(
      async () => (await Promise.all(brokers.map(measurementsOf))).every(({ delivered }) => delivered === 3),
      { timeout: 60_000 },
    )
    const [own, ...others] = await Promise.all(brokers.map(measurementsOf))
    expect(own).toMatchObject({ published: 3, dropped: 0 })
    expect(own?.messages.map(({ hops }) => hops)).toEqual([0, 0, 0])
    for (const { messages, published } of others) {
      expect([published, messages.length]).toEqual([0, 3])
      for (const message of messages) {
        expect(message.publisherId).toBe(brokers[0]?.nodeId)
        expect([1, 2]).toContain(message.hops)
        // The same clock is behind both: what links say cannot be far from what timestamps say.
        expect(Math.abs((message.ageMs ?? Infinity) - message.wallAgeMs)).toBeLessThan(1_000)
      }
    }
    const { overlays } = await tell<{ overlays: { edges: unknown[] }[] }>(trackerControl.url, '/measurements')
    expect(overlays.map(({ edges }) => edges.length)).toEqual([3])

    await Promise.all(brokers.map(({ controlUrl }) => tell(controlUrl, '/reset', {})))
    for (const broker of brokers) {
      expect(await measurementsOf(broker)).toMatchObject({ published: 0, delivered: 0, messages: [] })
      expect((await infoOf(broker)).streamParts).toEqual([])
    }
  })

  it('ping', async () => {
    const { port } = new URL(tracker.url)
    const targets = [`127.0.0.1:${port}`]
    for (const url of [brokers[0]?.controlUrl, trackerControl.url]) {
      const { results } = await tell<{ results: { rttsMs: number[] }[] }>(url, '/ping', { targets, count: 2 })
      expect(results.map(({ rttsMs }) => rttsMs.length)).toEqual([2])
    }
  })

  it('refuse what makes no sense', async () => {
    const url = brokers[0]?.controlUrl
    const unknown = toStreamPartId(toStreamId(`${identity.nodeId}/unknown`), 0)
    await expect(tell(url, '/join', { streamPartId: unknown })).rejects.toThrow('STREAM_NOT_FOUND')
    await expect(tell(url, '/join', { streamPartId: 'x' })).rejects.toThrow('INPUT_INVALID')
    await expect(tell(url, '/publish', { streamPartId, messages: 0, intervalMs: 0 })).rejects.toThrow(
      'INPUT_INVALID',
    )
    await expect(tell(url, '/ping', { targets: ['no port'] })).rejects.toThrow('INPUT_INVALID')
    const series = { streamPartId, messages: 1_000, intervalMs: 1_000 }
    await tell(url, '/publish', series)
    await expect(tell(url, '/publish', series)).rejects.toThrow('CONTROL_BUSY')
    await tell(url, '/reset', {})
  })
})
