import {
  seededRandom,
  toNodeId,
  type AskCount,
  type Contact,
  type FindStorage,
  type NodeId,
  type Status,
  type Storing,
  type StreamPartId,
} from '@runnel/protocol'
import { defaultTrackerLimits, type TrackerLimits } from '../limits.ts'
import type { RegistryAnswers } from './roles.ts'
import {
  TrackerCore,
  type NodeToTracker,
  type TrackerCoreOptions,
  type TrackerEffect,
  type TrackerEvent,
} from './tracker-core.ts'

export const webrtcContact: Contact = {
  addresses: [{ kind: 'webrtc', text: '' }],
  dials: ['websocket', 'webrtc'],
}
export const partA = '0x00000000000000000000000000000000000000aa/a#0' as StreamPartId
export const partB = '0x00000000000000000000000000000000000000aa/b#0' as StreamPartId

/** The n-th node of a test. */
export function nodeId(n: number): NodeId {
  return toNodeId(`0x${n.toString(16).padStart(40, '0')}`)
}

export function statusOf(
  streamPartId: StreamPartId,
  counter = 0,
  neighbours: readonly NodeId[] = [],
  failed: Status['failed'] = [],
): Status {
  return {
    type: 'status',
    streamPartId,
    counter,
    neighbours: neighbours.map((id) => ({ nodeId: id, rttMs: undefined })),
    failed,
  }
}

export function storing(streamPartId: StreamPartId, yes = true): Storing {
  return { type: 'storing', streamPartId, storing: yes }
}

export function findStorage(streamPartId = partA, requestId = 1): FindStorage {
  return { type: 'findStorage', requestId, streamPartId }
}

export function askCount(streamPartId = partA, requestId = 1): AskCount {
  return { type: 'askCount', requestId, streamPartId }
}

/** A core with a clock of its own, to tell stories with. */
export class TrackerStory {
  readonly core: TrackerCore
  now = 1_000
  /** Everything the core has sent and refused, in order. */
  readonly effects: TrackerEffect[] = []

  constructor(
    options: {
      degree?: number
      seed?: string
      limits?: Partial<TrackerLimits>
      overlay?: NonNullable<TrackerCoreOptions['overlay']>
      registry?: RegistryAnswers
    } = {},
  ) {
    const { degree = 4, seed = 'story', limits, overlay = 'random', registry } = options
    this.core = new TrackerCore(
      { degree, overlay, limits: { ...defaultTrackerLimits, ...limits } },
      { random: seededRandom(seed), registry },
    )
  }

  connect(id: NodeId, contact = webrtcContact, network?: string): TrackerEffect[] {
    const effects = this.open(id, network)
    return [...effects, ...this.packet(id, { type: 'nodeInfo', contact })]
  }

  /** A connection, on which nothing is said. */
  open(id: NodeId, network?: string): TrackerEffect[] {
    return this.#take(this.core.handle({ type: 'nodeConnected', nodeId: id, network }, this.now))
  }

  handle(event: TrackerEvent): TrackerEffect[] {
    return this.#take(this.core.handle(event, this.now))
  }

  disconnect(id: NodeId): TrackerEffect[] {
    return this.#take(this.core.handle({ type: 'nodeDisconnected', nodeId: id }, this.now))
  }

  expel(id: NodeId): TrackerEffect[] {
    return this.#take(this.core.handle({ type: 'nodeExpelled', nodeId: id }, this.now))
  }

  packet(from: NodeId, packet: NodeToTracker): TrackerEffect[] {
    return this.#take(this.core.handle({ type: 'packet', from, packet }, this.now))
  }

  join(id: NodeId, part = partA): TrackerEffect[] {
    return [...this.connect(id), ...this.packet(id, statusOf(part))]
  }

  /** Lets time pass, ticking whenever the core asked for it. */
  advance(ms: number): TrackerEffect[] {
    const end = this.now + ms
    const effects: TrackerEffect[] = []
    for (let at = this.core.dueMs; at <= end; at = this.core.dueMs) {
      this.now = Math.max(at, this.now)
      effects.push(...this.#take(this.core.handle({ type: 'tick' }, this.now)))
    }
    this.now = end
    return effects
  }

  #take(effects: TrackerEffect[]): TrackerEffect[] {
    this.effects.push(...effects)
    return effects
  }
}

/** Who got an instruction, with its counter and neighbours in order. */
export function instructions(effects: readonly TrackerEffect[]) {
  return effects.flatMap((effect) =>
    effect.type === 'send' && effect.packet.type === 'instruction'
      ? [
          {
            to: effect.to,
            part: effect.packet.streamPartId,
            counter: effect.packet.counter,
            neighbours: effect.packet.neighbours.map(({ nodeId }) => nodeId),
          },
        ]
      : [],
  )
}

/** The codes of error replies and refusals. */
export function codes(effects: readonly TrackerEffect[]): string[] {
  return effects.flatMap((effect) => {
    if (effect.type === 'refuse') return [effect.code]
    return effect.type === 'send' && effect.packet.type === 'trackerError' ? [effect.packet.code] : []
  })
}
