import { encodePacket, type NodeId, type Packet } from '@runnel/protocol'
import { defaultClusterLimits, RelayServer } from '@runnel/tracker'
import { chance, oneOf, wholeFrom } from '../../fuzz-plan.ts'
import { again, victim, type MakeAttacker } from '../attacker.ts'

/** How far ahead of now it dates a session. */
const aheadMs = [0, 1, 60_000, 3_600_000, 2 ** 40]

/**
 * A tracker that the registry lists: it relays packets of nodes that are connected to the leader and not to it, and of some
 * that do not exist.
 */
export const rogueTracker: MakeAttacker = (modules) => {
  const { fuzz, name, random } = modules
  const { nodeId: self } = fuzz.world.identity(name)
  const server = new RelayServer(defaultClusterLimits, {
    relay: () => true,
    accept: (connection) => fuzz.world.relayedIn.acceptRelayed(connection),
    count: () => {},
  })
  const relay = (nodeId: NodeId, packet: Packet): void =>
    server.receive(self, { type: 'up', nodeId, packet: encodePacket(packet) })
  const lies = (): Packet => {
    const streamPartId = oneOf(fuzz.streamParts, random) ?? fuzz.world.streamPartId
    const session = fuzz.world.clock.now() + (oneOf(aheadMs, random) ?? 0)
    const someone = (): NodeId =>
      chance(0.5, random) ? fuzz.world.identity(`nobody ${name}`).nodeId : (victim(modules) ?? self)
    const neighbours = [{ nodeId: someone(), rttMs: 1 }]
    const failed = chance(0.5, random) ? [{ nodeId: someone(), reason: 'lost' as const }] : []
    const counter = wholeFrom(0, 100, random)
    const contact = { addresses: [{ kind: 'memory', text: `memory://${self}` }], dials: ['memory'] }
    const packets: Packet[] = [
      { type: 'nodeInfo', contact },
      { type: 'status', streamPartId, session, counter, neighbours, failed },
      { type: 'status', streamPartId, session, counter: 0, neighbours: [], failed },
      { type: 'leave', streamPartId },
      { type: 'storing', streamPartId, storing: true },
    ]
    return oneOf(packets, random) ?? { type: 'leave', streamPartId }
  }
  let end = (): void => {}
  return {
    async start() {
      end = again(modules, { min: 100, max: 1_500 }, () => {
        const nodeId = chance(0.9, random) ? victim(modules) : fuzz.world.identity(`nobody ${name}`).nodeId
        if (nodeId === undefined) return
        if (chance(0.4, random)) server.receive(self, { type: 'open', nodeId, hops: wholeFrom(0, 2, random) })
        for (let left = wholeFrom(1, 3, random); left > 0; left--) relay(nodeId, lies())
        if (chance(0.1, random)) server.receive(self, { type: 'gone', nodeId })
      })
    },
    stop: () => {
      end()
      server.unlinked(self)
    },
  }
}
