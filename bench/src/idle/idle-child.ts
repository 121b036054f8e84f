import { toStreamId, toStreamPartId } from '@runnel/protocol'
import type { TrackerAddress } from '@runnel/network'
import { bareDataChannelPair } from '../bare/bare-data-channel.ts'
import { bareWebSocketPair } from '../bare/bare-websocket.ts'
import { answerCalls } from '../child-calls.ts'
import { cpuUs } from '../statistics.ts'
import { Swarm } from '../swarm.ts'

export type IdleTransport = 'webrtc' | 'websocket'

/** The others later, so that what stream parts do from time to time is not all due at once. */
const joinedAtOnce = 10

const kept: object[] = []

const calls = {
  /** Starts so many nodes, and has all join so many stream parts, in each of which each is a neighbour of all others. */
  async start(
    transport: IdleTransport,
    { nodes, streamParts }: { readonly nodes: number; readonly streamParts: number },
    tracker: TrackerAddress,
  ): Promise<void> {
    const swarm = await Swarm.start({ transport, verify: true, thinFloods: true, tracker })
    kept.push(swarm)
    await swarm.grow(nodes)
    const owner = swarm.publisher.nodeId
    for (let i = 1; i < streamParts; i += joinedAtOnce) {
      const count = Math.min(joinedAtOnce, streamParts - i)
      const ids = Array.from({ length: count }, (_, j) =>
        toStreamPartId(toStreamId(`${owner}/idle/${i + j}`), 0),
      )
      for (const node of swarm.nodes) for (const id of ids) node.join(id)
      const joined = ids.flatMap((id) =>
        swarm.nodes.map((node) => node.waitForNeighbours(id, { count: nodes - 1 })),
      )
      await Promise.all(joined)
    }
  },

  /** So many links, with nothing on them. */
  async startBare(transport: IdleTransport, links: number): Promise<void> {
    const open = transport === 'websocket' ? bareWebSocketPair : bareDataChannelPair
    for (let i = 0; i < links; i++) kept.push(await open())
  },

  /** Collects what the start left: it should not be collected while nothing happens. */
  collect(): void {
    globalThis.gc?.()
  },

  /** Totals of this process. */
  usage(): IdleUsage {
    return { cpuUs: cpuUs(), wakeUps: process.resourceUsage().voluntaryContextSwitches }
  },
}

export interface IdleUsage {
  readonly cpuUs: number
  /** How often a thread of the process waited and went on. */
  readonly wakeUps: number
}

export type IdleCalls = typeof calls

answerCalls(calls)
