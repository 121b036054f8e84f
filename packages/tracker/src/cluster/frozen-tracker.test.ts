import { toStreamId, toStreamPartId, type NodeId } from '@runnel/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { isLink, startClusterTracker, TestRegistry, type ClusterTracker } from './cluster.testkit.ts'
import { trackerOrder } from './core/stream-order.ts'
import { edgesOf, ObedientNode, untilEdges } from './obedient-node.testkit.ts'
import { startTrackerProcess, type TrackerProcess } from './tracker-process.testkit.ts'

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

const streamId = toStreamId(`0x${'ab'.repeat(20)}/frozen`)

/** A tracker that leads a stream part in a process of its own, and its successor in this one, linked. */
async function setUp() {
  const leader = await startTrackerProcess()
  stops.push(() => leader.stop())
  const registry = new TestRegistry()
  const successor = await startClusterTracker(registry)
  stops.push(() => successor.stop())
  const trackers = [leader.registered, successor.registered]
  registry.set(trackers)
  leader.setRegistry(trackers)
  await successor.logger.line(isLink(leader.registered.nodeId))
  await leader.said('linked to another tracker')
  const ids = trackers.map(({ nodeId }) => nodeId)
  /** Of a hundred stream parts surely one. */
  const part = Array.from({ length: 100 }, (_, partition) => toStreamPartId(streamId, partition)).find(
    (id) => trackerOrder(id, ids)[0] === leader.registered.nodeId,
  )
  if (part === undefined) throw new Error('the tracker is the first of no stream part')
  const newNode = () => {
    const node = new ObedientNode(part)
    stops.push(() => node.stop())
    return node
  }
  return { leader, successor, newNode }
}

const at = ({ registered }: TrackerProcess) => ({ tracker: registered })

function replicated(to: ClusterTracker, by: NodeId, nodes: number, since = 0): Promise<unknown> {
  return to.logger.line(({ detail }) => {
    const { tracker, nodes: count } = detail as Record<string, unknown>
    return tracker === by && count === nodes
  }, since)
}

describe('a tracker whose process is stopped, and goes on later', { timeout: 120_000 }, () => {
  it('is replaced meanwhile, and afterwards takes the overlay over as it has become', async () => {
    const { leader, successor, newNode } = await setUp()
    const nodes = Array.from({ length: 8 }, newNode)
    for (const node of nodes) await node.report(at(leader))
    await untilEdges(nodes, 16)
    await replicated(successor, leader.registered.nodeId, 8)
    const first = edgesOf(nodes)

    leader.freeze()
    await successor.logger.line(({ text }) => text === 'the link to another tracker closed')
    // Who joins is served at once, before any of the others has come.
    const joiner = newNode()
    await joiner.report(successor)
    await joiner.hasNeighbours(4)
    for (const node of nodes) await node.report(successor)
    const all = [...nodes, joiner]
    await untilEdges(all, 18)
    const during = edgesOf(all)
    expect([...first].filter((edge) => !during.has(edge)).length).toBe(2)
    expect(await successor.view()).toMatchObject({ leads: 1, circuitsOut: 0 })

    const told = all.map(({ instructions }) => instructions)
    const since = successor.logger.lines.length
    leader.thaw()
    await leader.said('this process stalled: the tracker begins anew')
    await replicated(successor, leader.registered.nodeId, 9, since)
    expect(await successor.view()).toMatchObject({ leads: 0, circuitsOut: 9 })
    expect(edgesOf(all)).toEqual(during)
    for (const node of all) await node.report(at(leader))
    const last = newNode()
    await last.report(at(leader))
    await untilEdges([...all, last], 20)
    const after = edgesOf([...all, last])
    expect([...during].filter((edge) => !after.has(edge)).length).toBe(2)
    // Each is told once by the tracker that has it again; four of them of the newcomer; and on coming home, at most once more.
    const more = all.map(({ instructions }, index) => instructions - (told[index] ?? 0))
    expect(Math.max(...more)).toBeLessThanOrEqual(3)
    expect(await successor.metric('cluster_handovers_total')).toBe(1)
  })
})
