import { afterAll, expect, it } from 'vitest'
import { Clients, newAccount, startTracker } from './client.testkit.ts'

const tracker = await startTracker()
const id = `${newAccount().nodeId}/links`
const clients = new Clients({
  network: {
    kind: 'static',
    document: {
      version: 1,
      trackers: [{ nodeId: tracker.nodeId, url: tracker.url }],
      streams: [{ id, permissions: [{ user: 'public', publish: true, subscribe: true }] }],
    },
  },
})
afterAll(async () => {
  await clients.closeAll()
  await tracker.stop()
})

it('trackers hear by what nodes are linked, not what they tried first', async () => {
  // Nobody answers there: they try WebSocket, and then WebRTC.
  const listen = { host: '127.0.0.1', port: 0, publicUrl: 'ws://127.0.0.1:1' }
  const [a, b] = [
    await clients.create({ transports: { websocket: { listen } } }),
    await clients.create({ transports: { websocket: { listen } } }),
  ]
  for (const client of [a, b]) await client.subscribe(id, {}, () => {})
  const edges = () => tracker.overlays.flatMap((part) => part.edges)
  await expect
    .poll(() => edges().map(({ transport, relayed }) => ({ transport, relayed })), { timeout: 30_000 })
    .toEqual([{ transport: 'webrtc', relayed: false }])
}, 40_000)
