import {
  decodePacket,
  packetKind,
  PacketType,
  toStreamPartId,
  wholeBatch,
  type NodeId,
  type StreamPartId,
} from '@runnel/protocol'
import type { Breaches } from './breaches.ts'

interface Membership {
  /** When the node left; undefined while it is in. */
  leftAtMs: number | undefined
}

export interface NoiselessOptions {
  /** What was under way or decided when a node left may still reach it for so long… */
  readonly graceMs: number
  /** … and where frames were lost, as its goodbyes may be, for so long after the last. */
  readonly troubledGraceMs: number
}

export interface NoiselessModules {
  readonly breaches: Breaches
  nowMs(): number
  /** When frames were last lost or held up. */
  troubledMs(): number
}

/** No node receives anything, data or control, about a stream part it has not joined. */
export class NoiselessChecker {
  readonly #options: NoiselessOptions
  readonly #modules: NoiselessModules
  readonly #memberships = new Map<string, Membership>()

  constructor(options: NoiselessOptions, modules: NoiselessModules) {
    this.#options = options
    this.#modules = modules
  }

  joined(nodeId: NodeId, id: StreamPartId): void {
    this.#memberships.set(`${nodeId} ${id}`, { leftAtMs: undefined })
  }

  left(nodeId: NodeId, id: StreamPartId): void {
    const membership = this.#memberships.get(`${nodeId} ${id}`)
    if (membership !== undefined) membership.leftAtMs ??= this.#modules.nowMs()
  }

  /** A packet of an honest node or tracker. */
  received(nodeId: NodeId, from: NodeId, type: number, body: Uint8Array): void {
    const id = streamPartOf(type, body)
    if (id === undefined) return
    const membership = this.#memberships.get(`${nodeId} ${id}`)
    const { breaches, nowMs, troubledMs } = this.#modules
    const what = `packet 0x${type.toString(16)} about ${id} from ${from} to ${nodeId}`
    if (membership === undefined) return breaches.report('noiseless', `${what}, which never joined`)
    const { leftAtMs } = membership
    if (leftAtMs === undefined) return
    const { graceMs, troubledGraceMs } = this.#options
    const untilMs = troubledMs() < leftAtMs ? leftAtMs + graceMs : troubledMs() + troubledGraceMs
    if (nowMs() > untilMs)
      breaches.report('noiseless', `${what}, which left ${Math.round(nowMs() - leftAtMs)} ms ago`)
  }
}

/** Which stream part a packet is about; undefined for none. */
function streamPartOf(type: number, body: Uint8Array): StreamPartId | undefined {
  const isOrder = type === PacketType.instruction
  if (!isOrder && packetKind(type)?.scope !== 'neighbours') return undefined
  // Whoever sends an alias for a header was told it by the receiver, for a chain of a stream part that both are in.
  if (type === PacketType.data && wholeBatch(body, () => undefined) === undefined) return undefined
  const packet = decodePacket(type, body)
  if (packet.type === 'data') {
    const { streamId, partition } = packet.batch.chain
    return toStreamPartId(streamId, partition)
  }
  return 'streamPartId' in packet ? packet.streamPartId : undefined
}
