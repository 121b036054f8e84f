import type { NodeId, Status } from '@runnel/protocol'
import { noArchive } from '../../world/no-archive.ts'
import { tapped } from '../../world/tapped-transport.ts'
import type { SimNode, World } from '../../world/world.ts'
import { answerEarly, tinyRttMs, withStatus } from '../attack/false-times.ts'

/**
 * How a node behaves that wants to hear sooner than others. honest: not at all. near: claims that all its neighbours are near, and
 * answers pings before they come. far: claims that all are ten times as far as they are. choosy: claims that those that are far
 * are out of reach. refuse: says that links to those have failed. rejoin: leaves and joins at once, until its neighbours are near.
 */
export const conducts = ['honest', 'near', 'far', 'choosy', 'refuse', 'rejoin'] as const
export type Conduct = (typeof conducts)[number]

export interface ConductModules {
  readonly world: World
  /** To a node of this id: it has pinged it. */
  rttMs(to: NodeId): number
  /** Whether it may still change its neighbours. */
  mayRejoin(): boolean
}

/** Neighbours with longer round-trip times than this are far: less than a third of all pairs of table 5.1 are nearer. */
const farRttMs = 60
const exaggeration = 10
/** The largest time that a status can say. */
const largestRttMs = 6_553
/** How long it looks at its neighbours before it leaves them. */
const rejoinMs = 5_000

/** A production node that has joined, and does what `conduct` says. */
export async function startNodeOf(conduct: Conduct, name: string, modules: ConductModules): Promise<SimNode> {
  const { world } = modules
  const sim = await world.startNode(name, noArchive, (transport) =>
    tapped(transport, {
      sending: (_, packet) => withStatus(packet, (status) => lie(conduct, status, modules)),
      opened: (connection) => {
        if (conduct === 'near' && connection.peerRole === 'node')
          answerEarly(connection, world.clock, () => false)
      },
    }),
  )
  sim.node.join(world.streamPartId)
  if (conduct === 'rejoin') rejoin(sim, modules)
  return sim
}

function lie(conduct: Conduct, status: Status, { rttMs }: ConductModules): Status {
  const times = (claim: (to: NodeId) => number): Status => ({
    ...status,
    neighbours: status.neighbours.map((report) => ({ ...report, rttMs: claim(report.nodeId) })),
  })
  const isFar = (to: NodeId): boolean => rttMs(to) > farRttMs
  switch (conduct) {
    case 'near':
      return times(() => tinyRttMs)
    case 'far':
      return times((to) => exaggeration * rttMs(to))
    case 'choosy':
      return times((to) => (isFar(to) ? largestRttMs : rttMs(to)))
    case 'refuse': {
      const refused = status.neighbours.filter(({ nodeId }) => isFar(nodeId))
      const neighbours = status.neighbours.filter(({ nodeId }) => !isFar(nodeId))
      const failed = refused.map(({ nodeId }) => ({ nodeId, reason: 'lost' as const }))
      return { ...status, neighbours, failed: [...status.failed, ...failed] }
    }
    case 'honest':
    case 'rejoin':
      return status
  }
}

/** Draws other neighbours until they are near on average. */
function rejoin({ node }: SimNode, { world, rttMs, mayRejoin }: ConductModules): void {
  const { clock, streamPartId } = world
  let neighbours: readonly NodeId[] = []
  node.on('neighbours', (_, now) => (neighbours = now))
  const again = (): void => {
    if (!mayRejoin()) return
    const meanRttMs = neighbours.reduce((sum, to) => sum + rttMs(to), 0) / neighbours.length
    if (neighbours.length > 0 && meanRttMs > farRttMs) {
      node.leave(streamPartId)
      node.join(streamPartId)
    }
    clock.schedule(rejoinMs, again)
  }
  clock.schedule(rejoinMs, again)
}
