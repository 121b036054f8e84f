import { encodePacket, PacketType, type NodeId, type Status, type StreamPartId } from '@runnel/protocol'
import type { Connection, Transport } from '@runnel/transport'
import { noArchive } from '../../world/no-archive.ts'
import { tapped } from '../../world/tapped-transport.ts'
import type { SimNode, World } from '../../world/world.ts'
import { answerEarly, tinyRttMs, withStatus } from './false-times.ts'

/** What attackers do; docs/evaluation/attacks.md says why. */
export const attacks = ['hub', 'eclipse', 'rtt', 'drop'] as const
export type Attack = (typeof attacks)[number]

export interface AttackerModules {
  readonly world: World
  /** All honest nodes: the worst attacker knows everybody. */
  honest(): readonly NodeId[]
}

/** A hub attaches to all it knows this often. */
const seekMs = 5_000
/** Neighbours a hub claims to have in a status; more than this is no status. */
const maxClaimed = 64

/** A production node whose packets are changed on their way out, and which opens additional links of its own. */
export class Attacker {
  readonly #attack: Attack
  readonly #modules: AttackerModules
  readonly #own = new Map<NodeId, Connection>()
  #sim: SimNode | undefined
  #transport: Transport | undefined
  #isDark = false

  constructor(attack: Attack, modules: AttackerModules) {
    this.#attack = attack
    this.#modules = modules
  }

  get sim(): SimNode {
    if (this.#sim === undefined) throw new Error('the attacker has not started')
    return this.#sim
  }

  async start(name: string): Promise<void> {
    const { world } = this.#modules
    this.#sim = await world.startNode(name, noArchive, (transport) => {
      this.#transport = tapped(transport, {
        sending: (_, packet) => this.#sending(packet),
        opened: (connection) => {
          if (this.#attack === 'rtt' && connection.peerRole === 'node')
            answerEarly(connection, world.clock, () => this.#isDark)
        },
      })
      return this.#transport
    })
    this.#sim.node.join(world.streamPartId)
    if (this.#attack === 'hub') this.#seek()
  }

  /** Gone, without a word. */
  goDark(): void {
    this.#isDark = true
    this.#modules.world.kill(this.sim, 'silent')
  }

  #sending(packet: Uint8Array): Uint8Array | undefined {
    const [type] = packet
    if (type === PacketType.data && this.#attack !== 'hub') return undefined
    if (type !== PacketType.status || (this.#attack !== 'hub' && this.#attack !== 'rtt')) return packet
    return withStatus(packet, (status) => this.#lie(status))
  }

  /** Everybody is near; of a hub everybody is a neighbour. */
  #lie(status: Status): Status {
    const neighbours = new Set(status.neighbours.map(({ nodeId }) => nodeId))
    if (this.#attack === 'hub')
      for (const nodeId of this.#modules.honest()) if (neighbours.size < maxClaimed) neighbours.add(nodeId)
    return {
      ...status,
      neighbours: Array.from(neighbours, (nodeId) => ({ nodeId, rttMs: tinyRttMs })),
    }
  }

  /** Links to everybody, and attaches to each again and again. */
  #seek(): void {
    const { world, honest } = this.#modules
    if (this.#isDark) return
    for (const peerId of honest()) {
      const connection = this.#own.get(peerId)
      if (connection === undefined) this.#dial(peerId)
      else connection.send(attach(world.streamPartId))
    }
    world.clock.schedule(seekMs, () => this.#seek())
  }

  #dial(peerId: NodeId): void {
    this.#transport?.dial({
      peerId,
      onOpen: (connection) => {
        this.#own.set(peerId, connection)
        connection.events = {
          onPacket: () => {},
          onDrain: () => {},
          onClose: () => void this.#own.delete(peerId),
        }
        connection.send(attach(this.#modules.world.streamPartId))
      },
      onFail: () => {},
    })
  }
}

function attach(streamPartId: StreamPartId): Uint8Array {
  return encodePacket({ type: 'attach', streamPartId, sinceMs: 1, heads: [] })
}
