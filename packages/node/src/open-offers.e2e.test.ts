import { toStreamId, toStreamPartId, type StreamPartId } from '@runnel/protocol'
import type { Tracker } from '@runnel/tracker'
import { expect, it } from 'vitest'
import { startNode, startTracker } from './signalled-nodes.testkit.ts'

const partNamed = (name: string): StreamPartId => toStreamPartId(toStreamId(`0x${'a'.repeat(40)}/${name}`), 0)
const [shared, own] = [partNamed('shared'), partNamed('own')]
/** Nodes leave offers also where the tracker is near. */
const limits = { minOfferRttMs: 0 }

const takenBy = async (tracker: Tracker): Promise<string | undefined> =>
  /runnel_tracker_open_offers_taken_total (\d+)/.exec(await tracker.metrics())?.[1]

it('a node that joins another stream part leaves an offer, which its first neighbour there answers', async () => {
  const tracker = await startTracker()
  const [{ node: first }, { node: second }] = [
    await startNode(tracker, { limits }),
    await startNode(tracker, { limits }),
  ]
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
