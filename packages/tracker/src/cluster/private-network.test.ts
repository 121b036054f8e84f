import { toStreamId, toStreamPartId } from '@runnel/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { RemovableNodes } from '../runtime/removable-nodes.testkit.ts'
import { isLink, startClusterTracker, TestRegistry, type ClusterTracker } from './cluster.testkit.ts'
import { trackerOrder } from './core/stream-order.ts'
import { ObedientNode, untilEdges } from './obedient-node.testkit.ts'

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

const part = toStreamPartId(toStreamId(`0x${'ab'.repeat(20)}/private`), 0)

/** A node that is listed no longer is not waited for long. */
const options = { limits: { adoptionPatienceMs: 500 } }

interface Member {
  readonly tracker: ClusterTracker
  /** Its list of nodes. */
  readonly nodes: RemovableNodes
}

/** Two linked trackers of a private network, the one that leads first. */
async function privateCluster(): Promise<readonly [leader: Member, successor: Member]> {
  const registry = new TestRegistry()
  const members: Member[] = []
  for (let i = 0; i < 2; i++) {
    const nodes = new RemovableNodes()
    const tracker = await startClusterTracker(registry, options, undefined, nodes)
    stops.push(() => tracker.stop())
    members.push({ tracker, nodes })
  }
  const [a, b] = members as [Member, Member]
  registry.add(a.tracker.registered, b.tracker.registered)
  await a.tracker.logger.line(isLink(b.tracker.nodeId))
  await b.tracker.logger.line(isLink(a.tracker.nodeId))
  return trackerOrder(part, [a.tracker.nodeId, b.tracker.nodeId])[0] === a.tracker.nodeId ? [a, b] : [b, a]
}

function newNode(): ObedientNode {
  const node = new ObedientNode(part)
  stops.push(() => node.stop())
  return node
}

describe('trackers of a private network', { timeout: 120_000 }, () => {
  it('take no node that only the tracker lists over which it comes', async () => {
    const [leader, successor] = await privateCluster()
    const [listed, other] = [newNode(), newNode()]
    leader.nodes.remove(other.nodeId)
    await listed.report(leader.tracker)
    await other.report(successor.tracker)
    expect(await other.closed).toMatchObject({ code: 'NODE_NOT_LISTED' })
    expect(await leader.tracker.metric('nodes_not_listed_total')).toBe(1)
    expect(await leader.tracker.view()).toMatchObject({ circuitsIn: 0 })
    expect(listed.neighbours).toEqual([])
  })

  it('let a node that comes by a circuit go when it is listed no longer, and tell its neighbours', async () => {
    const [leader, successor] = await privateCluster()
    const [direct, other] = [newNode(), newNode()]
    await direct.report(leader.tracker)
    await other.report(successor.tracker)
    await untilEdges([direct, other], 1)
    leader.nodes.remove(other.nodeId)
    expect(await other.closed).toMatchObject({ code: 'NODE_NOT_LISTED' })
    await direct.hasNeighbours(0)
  })

  it('give who is listed no longer no neighbours, though a replica names it', async () => {
    const [leader, successor] = await privateCluster()
    const nodes = [newNode(), newNode(), newNode()] as const
    for (const node of nodes) await node.report(leader.tracker)
    await untilEdges(nodes, 3)
    await successor.tracker.logger.line(({ detail }) => 'nodes' in detail && detail.nodes === 3)
    const [first, second, removed] = nodes
    successor.nodes.remove(removed.nodeId)
    await leader.tracker.stop()
    await first.report(successor.tracker)
    await second.report(successor.tracker)
    await first.until((ids) => ids.length === 1 && ids[0] === second.nodeId)
    await second.until((ids) => ids.length === 1 && ids[0] === first.nodeId)
    expect(await successor.tracker.metric('cluster_replicas_found_total')).toBe(1)
  })
})
