import { toStreamId, toStreamPartId, type NodeId, type StreamPartId } from '@runnel/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { statusOf } from '../core/tracker-core.testkit.ts'
import { RealNode } from '../real-node.testkit.ts'
import { isLink, startClusterTracker, TestRegistry, type ClusterTracker } from './cluster.testkit.ts'
import { trackerOrder } from './core/stream-order.ts'
import { ObedientNode, untilEdges } from './obedient-node.testkit.ts'

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

async function start(
  registry: TestRegistry,
  ...rest: [options?: object, key?: Uint8Array]
): Promise<ClusterTracker> {
  const tracker = await startClusterTracker(registry, ...rest)
  stops.push(() => tracker.stop())
  return tracker
}

/** Registered trackers that are all linked. */
async function cluster(size: number): Promise<{ registry: TestRegistry; trackers: ClusterTracker[] }> {
  const registry = new TestRegistry()
  const trackers: ClusterTracker[] = []
  for (let i = 0; i < size; i++) trackers.push(await start(registry))
  registry.add(...trackers.map(({ registered }) => registered))
  await allLinked(trackers)
  return { registry, trackers }
}

async function allLinked(trackers: readonly ClusterTracker[]): Promise<void> {
  for (const a of trackers) for (const b of trackers) if (a !== b) await a.logger.line(isLink(b.nodeId))
}

async function connected(to: ClusterTracker): Promise<RealNode> {
  const node = new RealNode()
  stops.push(() => node.stop())
  await node.connect(to.tracker)
  return node
}

/** The trackers of a stream part, the one that leads first. */
function inOrder(id: StreamPartId, trackers: readonly ClusterTracker[]): ClusterTracker[] {
  const ids = trackers.map(({ nodeId }) => nodeId)
  return trackerOrder(id, ids).flatMap((each) => trackers.filter(({ nodeId }) => nodeId === each))
}

const streamId = toStreamId(`0x${'ab'.repeat(20)}/cluster`)
const part = (partition = 0) => toStreamPartId(streamId, partition)
const ids = (neighbours: readonly { readonly nodeId: NodeId }[]) => neighbours.map(({ nodeId }) => nodeId)

describe('a cluster of trackers', { timeout: 120_000 }, () => {
  it('links all registered trackers', async () => {
    const { trackers } = await cluster(3)
    for (const { view, metric } of trackers) {
      const { state, trackers: others } = await view()
      expect(state).toBe('joined')
      expect(others.filter(({ linked }) => linked).length).toBe(2)
      expect(await metric('cluster_linked')).toBe(2)
    }
  })

  it('makes one overlay of nodes that reach different trackers, and relays their signals', async () => {
    const { trackers } = await cluster(2)
    const [leader, successor] = inOrder(part(), trackers) as [ClusterTracker, ClusterTracker]
    const [a, b] = [await connected(leader), await connected(successor)]
    for (const node of [a, b]) node.send(statusOf(part()))
    const toA = await a.receive('instruction', ({ neighbours }) => neighbours.length === 1)
    const toB = await b.receive('instruction', ({ neighbours }) => neighbours.length === 1)
    expect([ids(toA.neighbours), ids(toB.neighbours)]).toEqual([[b.nodeId], [a.nodeId]])
    const signal = { type: 'signal', sessionId: 7, kind: 'offer', payload: 'v=0' } as const
    b.send({ ...signal, peerId: a.nodeId })
    expect(await a.receive('signal')).toEqual({ ...signal, peerId: b.nodeId })
    a.send({ ...signal, peerId: b.nodeId })
    expect(await b.receive('signal')).toEqual({ ...signal, peerId: a.nodeId })
    expect(await leader.view()).toMatchObject({ leads: 1, relayedFromOthers: 1, relayedToOthers: 0 })
    expect(await successor.view()).toMatchObject({ leads: 0, relayedFromOthers: 0, relayedToOthers: 1 })
  })

  it('has a node in the overlay that is connected to the leader, and has not come home yet', async () => {
    const { trackers } = await cluster(2)
    const [leader, successor] = inOrder(part(), trackers) as [ClusterTracker, ClusterTracker]
    const [home, node] = [new ObedientNode(part()), new ObedientNode(part())]
    stops.push(
      () => home.stop(),
      () => node.stop(),
    )
    await home.report(leader)
    await node.connect(leader.tracker)
    await node.report(successor)
    await untilEdges([home, node], 1)
    expect(await leader.view()).toMatchObject({ leads: 1, relayedFromOthers: 1 })
    const told = home.instructions
    await node.moveTo(leader)
    await leader.logger.line(({ detail }) => 'code' in detail && detail.code === 'REPLACED')
    const third = new ObedientNode(part())
    stops.push(() => third.stop())
    await third.report(leader)
    await untilEdges([home, node, third], 3)
    expect(home.instructions).toBe(told + 1)
    expect(await leader.view()).toMatchObject({ leads: 1, relayedFromOthers: 0 })
  })

  it('has the trackers lead that a stream names', async () => {
    const { registry, trackers } = await cluster(3)
    const [first, second, third] = inOrder(part(), trackers) as [
      ClusterTracker,
      ClusterTracker,
      ClusterTracker,
    ]
    registry.own.set(streamId, [third.nodeId, second.nodeId])
    const [a, b] = [await connected(third), await connected(second)]
    for (const node of [a, b]) node.send(statusOf(part()))
    for (const node of [a, b]) await node.receive('instruction', ({ neighbours }) => neighbours.length === 1)
    expect(await third.view()).toMatchObject({ leads: 1, relayedFromOthers: 1 })
    expect(await second.view()).toMatchObject({ leads: 0, relayedToOthers: 1 })
    expect(await first.view()).toMatchObject({ leads: 0 })
  })
})
