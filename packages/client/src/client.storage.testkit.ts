import { createNetworkNode } from '@runnel/network'
import { decodeBatch, loadCrypto, type PublisherPolicy, type StreamPartId } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import type { Tracker } from '@runnel/tracker'
import { newIdentity } from './client.testkit.ts'
import { FakeStorage } from './resend/storage.testkit.ts'

/** A storage node on real sockets, that keeps in memory what floods in some stream parts. */
export async function startStorage(
  tracker: Tracker,
  streamPartIds: readonly StreamPartId[],
  publisherPolicy: PublisherPolicy = { check: () => 'allowed', resolve: () => Promise.resolve() },
): Promise<FakeStorage> {
  const node = createNetworkNode(
    { transports: { websocket: { listen: { host: '127.0.0.1', port: 0 } }, webrtc: false } },
    {
      identity: newIdentity(),
      crypto: await loadCrypto(),
      clock: systemClock,
      random: systemRandom,
      publisherPolicy,
      trackers: {
        trackersFor: () => [{ nodeId: tracker.nodeId, url: tracker.url }],
        onChange: () => () => undefined,
      },
    },
  )
  await node.start()
  const storage = new FakeStorage(node)
  node.on('batch', (_, { bytes }) => storage.add(decodeBatch(bytes.slice())))
  storage.stored = ({ timestamp, sequenceNumber }) => {
    const all = storage.batches.flatMap(({ messages }) => messages)
    const has = all.some((it) => it.timestamp === timestamp && it.sequenceNumber === sequenceNumber)
    return has ? '' : 'NOT_STORED'
  }
  for (const streamPartId of streamPartIds) {
    node.join(streamPartId)
    node.offerStorage(streamPartId, true)
  }
  return storage
}
