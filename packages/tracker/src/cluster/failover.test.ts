import { toStreamId, toStreamPartId, type NodeId } from '@runnel/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { isLink, startClusterTracker, TestRegistry, type ClusterTracker } from './cluster.testkit.ts'
import { trackerOrder } from './core/stream-order.ts'
import { edgesOf, ObedientNode, untilEdges } from './obedient-node.testkit.ts'

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

const part = toStreamPartId(toStreamId(`0x${'ab'.repeat(20)}/failover`), 0)
const registry = () => new TestRegistry()

async function start(of: TestRegistry, key?: Uint8Array): Promise<ClusterTracker> {
  const tracker = await startClusterTracker(of, {}, key)
  stops.push(() => tracker.stop())
  return tracker
}

/** Linked trackers, in the order in which they lead the stream part. */
async function cluster(of: TestRegistry, size: number): Promise<ClusterTracker[]> {
  const trackers: ClusterTracker[] = []
  for (let i = 0; i < size; i++) trackers.push(await start(of))
  of.add(...trackers.map(({ registered }) => registered))
  for (const a of trackers) for (const b of trackers) if (a !== b) await a.logger.line(isLink(b.nodeId))
  const byId = new Map(trackers.map((tracker) => [tracker.nodeId, tracker]))
  return trackerOrder(part, [...byId.keys()]).flatMap((id) => byId.get(id) ?? [])
}

/** Nodes of one overlay, each with all its neighbours. */
async function overlay(at: ClusterTracker, size: number): Promise<ObedientNode[]> {
  const nodes: ObedientNode[] = []
  for (let i = 0; i < size; i++) nodes.push(await node(at))
  await untilEdges(nodes, (size * Math.min(4, size - 1)) / 2)
  return nodes
}

async function node(at: ClusterTracker): Promise<ObedientNode> {
  const fresh = new ObedientNode(part)
  stops.push(() => fresh.stop())
  await fresh.report(at)
  await fresh.receive('instruction')
  return fresh
}

/** The tracker has a replica of the whole overlay, written since so many lines were logged. */
async function replicated(at: ClusterTracker, by: NodeId, nodes: number, since = 0): Promise<void> {
  await at.logger.line(({ detail }) => {
    const { tracker, nodes: count } = detail as Record<string, unknown>
    return tracker === by && count === nodes
  }, since)
}

describe('a stream part whose tracker dies', { timeout: 120_000 }, () => {
  it('goes on as it is: the next tracker has a replica, and lets new nodes in before the old ones have reported', async () => {
    const [leader, successor] = (await cluster(registry(), 2)) as [ClusterTracker, ClusterTracker]
    const nodes = await overlay(leader, 12)
    await replicated(successor, leader.nodeId, 12)
    const before = edgesOf(nodes)
    expect(before.size).toBe(24)
    await leader.stop()
    const [first, ...others] = nodes as [ObedientNode, ...ObedientNode[]]
    await first.report(successor)
    const fresh = await node(successor)
    await fresh.hasNeighbours(4)
    for (const each of others) await each.report(successor)
    await untilEdges([...nodes, fresh], 26)
    const after = edgesOf([...nodes, fresh])
    expect([...before].filter((edge) => !after.has(edge)).length).toBe(2)
    expect(await successor.metric('cluster_replicas_found_total')).toBe(1)
  })

  it('goes back to a tracker that returns, without a change, and nodes go home in their own time', async () => {
    const at = registry()
    const [leader, successor] = (await cluster(at, 2)) as [ClusterTracker, ClusterTracker]
    const nodes = await overlay(leader, 12)
    const before = edgesOf(nodes)
    await replicated(successor, leader.nodeId, 12)
    await leader.stop()
    for (const each of nodes) await each.report(successor)
    const since = successor.logger.lines.length
    const returned = await start(at, leader.privateKey)
    at.add(returned.registered)
    await replicated(successor, returned.nodeId, 12, since)
    expect(await successor.view()).toMatchObject({ leads: 0, circuitsOut: 12 })
    expect(await returned.view()).toMatchObject({ leads: 1, circuitsIn: 12 })
    for (const each of nodes.slice(0, 6)) await each.report(returned)
    const fresh = await node(returned)
    await untilEdges([...nodes, fresh], 26)
    const after = edgesOf([...nodes, fresh])
    expect([...before].filter((edge) => !after.has(edge)).length).toBeLessThanOrEqual(2)
    expect(await returned.view()).toMatchObject({ leads: 1, circuitsIn: 6 })
  })

  it('is led by the next one for nodes that reach no other, and is one overlay again afterwards', async () => {
    const at = registry()
    const [leader, successor, third] = (await cluster(at, 3)) as [
      ClusterTracker,
      ClusterTracker,
      ClusterTracker,
    ]
    const direct = await overlay(leader, 3)
    const relayed = await node(third)
    await relayed.hasNeighbours(3)
    await replicated(third, leader.nodeId, 4)
    // The third loses the others, and leads those that come to it.
    await leader.stop()
    await successor.stop()
    const alone = await node(third)
    await alone.hasNeighbours(4)
    expect(await third.view()).toMatchObject({ leads: 1, circuitsOut: 0 })
    const since = third.logger.lines.length
    const returned = await start(at, leader.privateKey)
    at.add(returned.registered)
    for (const each of direct) await each.report(returned)
    await replicated(third, returned.nodeId, 5, since)
    expect(await third.view()).toMatchObject({ leads: 0, circuitsOut: 2 })
    await untilEdges([...direct, relayed, alone], 10)
  })

  it('is two overlays while its trackers have lost each other, and one again afterwards', async () => {
    const [atLeader, atSuccessor] = [registry(), registry()]
    const trackers = [await start(atLeader), await start(atSuccessor)]
    const [a, b] = trackers as [ClusterTracker, ClusterTracker]
    const all = trackers.map(({ registered }) => registered)
    for (const each of [atLeader, atSuccessor]) each.set(all)
    await a.logger.line(isLink(b.nodeId))
    await b.logger.line(isLink(a.nodeId))
    const isFirst = trackerOrder(part, [a.nodeId, b.nodeId])[0] === a.nodeId
    const [leader, successor, view] = isFirst ? [a, b, atSuccessor] : [b, a, atLeader]
    const home = await overlay(leader, 5)
    const away = [await node(successor), await node(successor)]
    for (const each of away) await each.hasNeighbours(4)
    const told = () => home.map(({ instructions }) => instructions)
    // From now on the successor does not talk to the leader.
    const lost = leader.logger.lines.length
    view.set(all.filter(({ nodeId }) => nodeId === successor.nodeId))
    await leader.logger.line(({ text }) => text === 'the link to another tracker closed', lost)
    for (const each of away) await each.hasNeighbours(1)
    const isAway = (id: NodeId) => away.some(({ nodeId }) => nodeId === id)
    for (const each of home) await each.until((ids) => ids.length === 4 && !ids.some(isAway))
    expect(await successor.view()).toMatchObject({ leads: 1, circuitsOut: 0 })
    const apart = told()
    const since = successor.logger.lines.length
    view.set(all)
    await successor.logger.line(
      ({ detail }) => 'leaderId' in detail && detail.leaderId === leader.nodeId,
      since,
    )
    await untilEdges([...home, ...away], 14)
    expect(await successor.view()).toMatchObject({ leads: 0, circuitsOut: 2 })
    expect(told().every((count, index) => count - (apart[index] ?? 0) <= 2)).toBe(true)
  })
})
