import { circuitUrl, toStreamId, toStreamPartId, type NodeId, type StreamPartId } from '@runnel/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { nodeId, statusOf } from '../core/tracker-core.testkit.ts'
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
    // A tracker that notices that it stood still, as on a busy machine, closes its links and opens them again.
    for (const { view, metric } of trackers) {
      const linked = async () => (await view()).trackers.filter((other) => other.linked).length
      await expect.poll(linked).toBe(2)
      await expect.poll(() => metric('cluster_linked')).toBe(2)
      expect((await view()).state).toBe('joined')
    }
  })

  it('makes one overlay of nodes that reach different trackers', async () => {
    const { trackers } = await cluster(2)
    const [leader, successor] = inOrder(part(), trackers) as [ClusterTracker, ClusterTracker]
    const [a, b] = [await connected(leader), await connected(successor)]
    b.send(statusOf(part()))
    const { leaderId } = await b.receive('redirect')
    await b.connect({ nodeId: leaderId, url: circuitUrl(successor.tracker.url, [leaderId]) })
    for (const node of [a, b]) node.send(statusOf(part()))
    const toA = await a.receive('instruction', ({ neighbours }) => neighbours.length === 1)
    const toB = await b.receive('instruction', ({ neighbours }) => neighbours.length === 1)
    expect([ids(toA.neighbours), ids(toB.neighbours)]).toEqual([[b.nodeId], [a.nodeId]])
    const signal = { type: 'signal', sessionId: 7, kind: 'offer', payload: 'v=0' } as const
    b.send({ ...signal, peerId: a.nodeId })
    expect(await a.receive('signal')).toEqual({ ...signal, peerId: b.nodeId })
    a.send({ ...signal, peerId: b.nodeId })
    expect(await b.receive('signal')).toEqual({ ...signal, peerId: a.nodeId })
    expect(await leader.view()).toMatchObject({ leads: 1, circuitsIn: 1, circuitsOut: 0 })
    expect(await successor.view()).toMatchObject({ leads: 0, circuitsIn: 0, circuitsOut: 1 })
  })

  it('has the newest connection of a node count, be it direct or a circuit', async () => {
    const { trackers } = await cluster(2)
    const [leader, successor] = inOrder(part(), trackers) as [ClusterTracker, ClusterTracker]
    const [home, node] = [new ObedientNode(part()), new ObedientNode(part())]
    stops.push(
      () => home.stop(),
      () => node.stop(),
    )
    await home.report(leader)
    await node.report(successor)
    await untilEdges([home, node], 1)
    expect(await leader.view()).toMatchObject({ leads: 1, circuitsIn: 1 })
    const told = home.instructions
    await node.report(leader)
    expect(await node.closed).toMatchObject({ code: 'REPLACED' })
    const third = new ObedientNode(part())
    stops.push(() => third.stop())
    await third.report(leader)
    await untilEdges([home, node, third], 3)
    expect(home.instructions).toBe(told + 1)
  })

  it('carries a circuit on to a tracker that the first one does not reach, over one that does', async () => {
    const { trackers } = await cluster(3)
    const [leader, second, third] = inOrder(part(), trackers) as [
      ClusterTracker,
      ClusterTracker,
      ClusterTracker,
    ]
    const node = new RealNode()
    stops.push(() => node.stop())
    const url = circuitUrl(third.tracker.url, [second.nodeId, leader.nodeId])
    await node.connect({ nodeId: leader.nodeId, url })
    node.send(statusOf(part()))
    await node.receive('instruction')
    expect(await leader.view()).toMatchObject({ leads: 1, circuitsIn: 1 })
  })

  it('refuses a circuit to a tracker that is not linked, and lets the node ask again', async () => {
    const { trackers } = await cluster(2)
    const [leader, successor] = inOrder(part(), trackers) as [ClusterTracker, ClusterTracker]
    const node = new RealNode()
    stops.push(() => node.stop())
    const nobody = nodeId(500)
    const url = circuitUrl(successor.tracker.url, [nobody])
    await expect(node.connect({ nodeId: nobody, url })).rejects.toMatchObject({ code: 'NO_CIRCUIT' })
    const through = circuitUrl(successor.tracker.url, [leader.nodeId, nobody])
    await expect(node.connect({ nodeId: nobody, url: through })).rejects.toMatchObject({
      code: 'NO_CIRCUIT',
    })
    expect(await successor.metric('cluster_circuits_failed_total')).toBe(2)
    expect(await leader.metric('cluster_circuits_refused_total')).toBe(1)
  })

  it('hands a stream part over as soon as its owner names another tracker', async () => {
    const { registry, trackers } = await cluster(2)
    const [leader, successor] = inOrder(part(), trackers) as [ClusterTracker, ClusterTracker]
    const node = await connected(leader)
    node.send(statusOf(part()))
    await node.receive('instruction')
    registry.name(streamId, [successor.nodeId])
    expect(await node.receive('redirect')).toMatchObject({ leaderId: successor.nodeId })
    // The other one knows it, too.
    const other = await connected(successor)
    other.send(statusOf(part()))
    await other.receive('instruction')
  })

  it('has the trackers lead that a stream names', async () => {
    const { registry, trackers } = await cluster(3)
    const [first, second, third] = inOrder(part(), trackers) as [
      ClusterTracker,
      ClusterTracker,
      ClusterTracker,
    ]
    registry.own.set(streamId, [third.nodeId, second.nodeId])
    const nodes = [new ObedientNode(part()), new ObedientNode(part())] as const
    for (const node of nodes) stops.push(() => node.stop())
    await nodes[0].report(third)
    await nodes[1].report(second)
    await untilEdges(nodes, 1)
    expect(await third.view()).toMatchObject({ leads: 1, circuitsIn: 1 })
    expect(await second.view()).toMatchObject({ leads: 0, circuitsOut: 1 })
    expect(await first.view()).toMatchObject({ leads: 0 })
  })
})
