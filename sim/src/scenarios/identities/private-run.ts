import { limits, type Delegation, type NodeAdmission, type NodeId } from '@runnel/protocol'
import { TrackerClosedError } from '@runnel/network'
import { actingUnder, delegationTo } from '../../world/delegates.ts'
import { noArchive } from '../../world/no-archive.ts'
import { World } from '../../world/world.ts'

export interface PrivateOptions {
  readonly seed: string
  /** Users on the list. Of each there is one node more than it may have. */
  readonly users: number
  readonly degree: number
}

export interface PrivateReport {
  /** Nodes that the tracker has, and of one user at most. */
  readonly placed: number
  readonly mostOfUser: number
  /** Nodes that the tracker refused, by the code they were told. */
  readonly refused: Readonly<Record<string, number>>
  /** Nodes with a place that have neighbours. */
  readonly connected: number
}

const joinEveryMs = 1
const formingMs = 10_000
const latencyMs = 20

/** Users of a private network bring one node too many each, and somebody comes who is not on the list. */
export async function runPrivate(
  { seed, users, degree }: PrivateOptions,
  onProgress: (text: string) => void = () => {},
): Promise<PrivateReport> {
  const delegations = new Map<NodeId, Delegation>()
  const listed = new Set<NodeId>()
  const admission: NodeAdmission = {
    isPrivate: true,
    allows: (userId) => listed.has(userId),
    onChange: () => () => undefined,
  }
  const world = await World.create({
    ...{ seed, degree, jitterMs: 0, admission },
    latencyMs: () => latencyMs,
    lossRate: () => 0,
    onPassing: (second) => onProgress(`private network: second ${second}`),
    actingOf: (nodeId) => {
      const delegation = delegations.get(nodeId)
      return delegation && actingUnder(delegation)
    },
  })
  const refused = new Map<string, Set<NodeId>>()
  const refuse = (code: string, nodeId: NodeId): void => {
    refused.set(code, (refused.get(code) ?? new Set()).add(nodeId))
  }
  const start = async (name: string, userName: string) => {
    const { nodeId } = world.identity(name)
    const delegation = delegationTo(nodeId, world.identity(userName), world.crypto, world.clock.now())
    delegations.set(nodeId, delegation)
    const member = await world.addNode(name, noArchive)
    member.node.on('tracker', (_, state, error) => {
      if (state === 'disconnected' && error !== undefined)
        refuse(error instanceof TrackerClosedError ? error.closeCode : error.code, nodeId)
    })
    await world.advanceTo(world.clock.monotonicMs() + joinEveryMs)
    return { ...member, userId: delegation.userId }
  }
  const members = []
  for (let i = 0; i < users * (limits.maxNodesOfUser + 1); i++) {
    const userName = `user ${i % users}`
    listed.add(world.identity(userName).nodeId)
    members.push(await start(`node ${i}`, userName))
  }
  await start('stranger', 'nobody')
  await world.advanceTo(world.clock.monotonicMs() + formingMs)
  const placed = members.filter(({ nodeId }) => world.tracker.nodes.has(nodeId))
  const ofUsers = Object.values(Object.groupBy(placed, ({ userId }) => userId))
  return {
    placed: world.tracker.nodes.size,
    mostOfUser: Math.max(...ofUsers.map((nodes) => nodes?.length ?? 0)),
    refused: Object.fromEntries([...refused].map(([code, nodes]) => [code, nodes.size])),
    connected: placed.filter(({ node }) => node.metrics().streamParts[0]?.neighbours.length).length,
  }
}
