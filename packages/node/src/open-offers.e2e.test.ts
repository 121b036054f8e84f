import { createNetworkNode, type NetworkNode } from '@runnel/network'
import {
  createIdentity,
  generatePrivateKey,
  loadCrypto,
  toStreamId,
  toStreamPartId,
  type StreamPartId,
} from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker, type Tracker } from '@runnel/tracker'
import { createTransports } from '@runnel/transport'
import { afterEach, expect, it } from 'vitest'

const crypto = await loadCrypto()
const system = { crypto, clock: systemClock, random: systemRandom }
const newIdentity = () => createIdentity(generatePrivateKey(systemRandom), crypto)
const partNamed = (name: string): StreamPartId => toStreamPartId(toStreamId(`0x${'a'.repeat(40)}/${name}`), 0)
const [shared, own] = [partNamed('shared'), partNamed('own')]

const running: { stop(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of running.splice(0).toReversed()) await one.stop()
})

async function startTracker(): Promise<Tracker> {
  const tracker = createTracker(
    { listen: { port: 0 } },
    { ...system, identity: newIdentity(), onError: fail },
  )
  await tracker.start()
  running.push(tracker)
  return tracker
}

/** What is thrown here nobody catches. */
function fail(error: unknown): void {
  throw error
}

/** A node that only signalling reaches, and that leaves offers also where the tracker is near. */
async function startNode(tracker: Tracker): Promise<NetworkNode> {
  const transports = { webrtc: { bindAddress: '127.0.0.1' } }
  const address = { nodeId: tracker.nodeId, url: tracker.url }
  const node = createNetworkNode(
    { limits: { minOfferRttMs: 0 } },
    {
      ...system,
      ...{ identity: newIdentity(), onError: fail },
      publisherPolicy: { check: () => 'allowed', resolve: async () => undefined },
      trackers: { trackersFor: () => [address], onChange: () => () => {} },
      transports: (modules) => createTransports(transports, modules),
    },
  )
  await node.start()
  running.push(node)
  return node
}

const takenBy = async (tracker: Tracker): Promise<string | undefined> =>
  /runnel_tracker_open_offers_taken_total (\d+)/.exec(await tracker.metrics())?.[1]

it('a node that joins another stream part leaves an offer, which its first neighbour there answers', async () => {
  const tracker = await startTracker()
  const [first, second] = [await startNode(tracker), await startNode(tracker)]
  first.join(shared)
  second.join(own)
  // The tracker has told it that it is alone: before that, it may still name ICE servers.
  await second.countNodes(own)
  expect(await takenBy(tracker)).toBe('0')
  second.join(shared)
  await second.waitForNeighbours(shared, { count: 1 })
  expect(await takenBy(tracker)).toBe('1')
  expect([first, second].map((node) => node.metrics().counters['links.failed'])).toEqual([0, 0])
})
