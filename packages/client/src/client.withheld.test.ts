import { addressOf } from '@runnel/protocol'
import type { Tracker } from '@runnel/tracker'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Clients, newAccount, startTracker } from './client.testkit.ts'
import type { ClientStatus, RunnelClient, StaticNetwork } from './index.ts'

const id = `${newAccount().nodeId}/open`
const clients = new Clients({ network: { kind: 'static', document: documentOf([]) } })
let trackers: readonly Tracker[]

beforeAll(async () => {
  trackers = await Promise.all([startTracker(), startTracker()])
})
afterAll(async () => {
  await clients.closeAll()
  await Promise.all(trackers.map((tracker) => tracker.stop()))
})

function documentOf(ofStreams: readonly Tracker[]): StaticNetwork {
  return {
    version: 1,
    trackers: ofStreams.map(({ nodeId, url }) => ({ nodeId, url })),
    streams: [{ id, permissions: [{ user: 'public', publish: true, subscribe: true }] }],
  }
}

/** A member of the overlay that this tracker builds, and a host of others. */
const member = (tracker: Tracker) =>
  clients.create({ network: { kind: 'static', document: documentOf([tracker]) }, guests: { serve: true } })

const light = (hosts: readonly RunnelClient[]) =>
  clients.create({
    transports: {},
    via: hosts.map(({ network }) => addressOf(network.contact, 'websocket') ?? ''),
  })

// Hosts of two overlays of one stream, which know nothing of each other, stand for one that keeps a publisher's messages back.
it(
  'a light client reports which host did not bring what another one brought',
  { timeout: 90_000 },
  async () => {
    const [one, other] = trackers as readonly [Tracker, Tracker]
    const [honest, withholding, publisher] = await Promise.all([member(one), member(other), member(one)])
    const [reader, toBoth] = await Promise.all([light([honest, withholding]), light([honest, withholding])])
    const got: unknown[] = []
    await reader.subscribe(id, {}, ({ content }) => got.push(content))
    await publisher.subscribe(id, {}, () => {})
    const reports: Extract<ClientStatus, { type: 'withheld' }>[] = []
    const reading = (async () => {
      for await (const status of reader.status()) if (status.type === 'withheld') reports.push(status)
    })()
    // The host is expected to bring what was published some time after it was there, and asked twice, while it brings other messages.
    await expect
      .poll(
        async () => {
          await publisher.publish(id, 'to one overlay')
          await toBoth.publish(id, 'to both')
          return reports.length
        },
        { timeout: 80_000, interval: 500 },
      )
      .toBeGreaterThan(0)
    for (const report of reports) {
      expect(report).toMatchObject({ hostId: withholding.nodeId, deliveredBy: [honest.nodeId] })
      expect(report.messages).toBeGreaterThan(0)
    }
    expect(got).toContain('to one overlay')
    const figures = new Map(reader.hosts.map((host) => [host.nodeId, host]))
    expect(figures.get(withholding.nodeId)?.withheld).toBeGreaterThan(0)
    expect(figures.get(honest.nodeId)?.withheld).toBe(0)
    await clients.closeAll()
    await reading
  },
)
