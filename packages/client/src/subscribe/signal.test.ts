import { getEventListeners } from 'node:events'
import { createIdentity, generatePrivateKey, loadCrypto } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker } from '@runnel/tracker'
import { expect, it } from 'vitest'
import { createClient } from '../node/create-client.ts'

it('a signal that outlives a subscription does not hold it', async () => {
  const crypto = await loadCrypto()
  const identity = createIdentity(generatePrivateKey(systemRandom), crypto)
  const modules = { identity, crypto, clock: systemClock, random: systemRandom }
  const tracker = createTracker({ listen: { port: 0 } }, modules)
  await tracker.start()
  const id = `${identity.nodeId}/stream`
  const streams = [{ id, permissions: [{ user: 'public' as const, publish: true, subscribe: true }] }]
  const trackers = [{ nodeId: identity.nodeId, url: tracker.url }]
  const network = { kind: 'static', document: { version: 1, trackers, streams } } as const
  const client = await createClient({ network, transports: { webrtc: false } })
  const { signal } = new AbortController()
  const subscription = await client.subscribe(id, { signal })
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  await subscription.unsubscribe()
  expect(getEventListeners(signal, 'abort')).toEqual([])
  await client.close()
  await tracker.stop()
})
