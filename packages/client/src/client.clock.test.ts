import { createNetworkNode } from '@runnel/network'
import { protocolErrors, type Clock } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { afterAll, expect, it } from 'vitest'
import { Clients, newAccount, nextStatus, startTracker } from './client.testkit.ts'
import { createClient, type NetworkSource } from './index.ts'
import type { RunnelClient } from './runnel-client.ts'

const tracker = await startTracker()
const id = `${newAccount().nodeId}/clocks`
const network: NetworkSource = {
  kind: 'static',
  document: {
    version: 1,
    trackers: [{ nodeId: tracker.nodeId, url: tracker.url }],
    streams: [{ id, permissions: [{ user: 'public', publish: true, subscribe: true }] }],
  },
}
const clients = new Clients({ network })
const skewed: RunnelClient[] = []
afterAll(async () => {
  await Promise.all([clients.closeAll(), ...skewed.map((client) => client.close())])
  await tracker.stop()
})

const hourMs = 3_600_000

/** A client on a machine whose clock is ahead of everybody's, or behind where that is negative. */
async function clientAhead(aheadMs: number): Promise<RunnelClient> {
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + aheadMs }
  const client = await createClient(
    { network, privateKey: newAccount().privateKey, transports: { webrtc: false } },
    { clock, createNode: (options, modules) => createNetworkNode(options, { ...modules, clock }) },
  )
  skewed.push(client)
  return client
}

it('a subscriber whose clock is behind hears that it refuses what comes, and to look at its clock', async () => {
  const [publisher, subscriber] = [await clients.create(), await clientAhead(-hourMs)]
  const refused = nextStatus(subscriber, 'dropped')
  await subscriber.subscribe(id, {}, () => {})
  await publisher.publish(id, 'now')
  expect(await refused).toMatchObject({
    counter: 'data.timestampAhead',
    error: { code: 'TIMESTAMP_REFUSED', remedy: expect.stringContaining('clock of this machine') },
  })
})

it('one whose clock is ahead hears from the trackers, which refuse it, to set its clock', async () => {
  const subscriber = await clientAhead(hourMs)
  const refused = nextStatus(subscriber, 'tracker', ({ error }) => error !== undefined)
  await subscriber.subscribe(id, {}, () => {})
  const { remedy } = protocolErrors.DELEGATION_NOT_YET
  expect(await refused).toMatchObject({ error: { code: 'TRACKER_LOST', remedy } })
})
