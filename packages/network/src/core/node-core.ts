import type { MessageBatch, NodeId, Status, StreamPartId } from '@runnel/protocol'
import type { NetworkLimits } from '../limits.ts'
import { newCounters, type CounterName, type Counters } from './counters.ts'
import type { NodeEffects } from './effects.ts'
import type { NodeEvent } from './events.ts'
import { Flood, type FloodModules } from './flood/flood.ts'
import type { RecentBytes } from './flood/recent-batches.ts'
import { Neighbourhood } from './neighbours/neighbourhood.ts'
import { PeerTable } from './neighbours/peer-table.ts'
import { StreamPart } from './stream-part/stream-part.ts'
import { StreamPartMap } from './stream-part/stream-part-map.ts'

export interface NodeCoreModules extends Omit<FloodModules, 'counters' | 'parts'> {
  readonly effects: NodeEffects
  /** The link's smoothed round-trip time. */
  rttOf(peerId: NodeId): number | undefined
}

/**
 * A node without its wires: events and the time go in, effects come out. What it knows is in three rooms:
 * `neighbourhood` (who should be and is a neighbour), `flood` (what is new, good, and goes on), and the stream parts.
 */
export class NodeCore {
  readonly counters: Counters = newCounters()
  readonly #self: NodeId
  readonly #limits: NetworkLimits
  readonly #modules: NodeCoreModules
  readonly #parts = new StreamPartMap()
  readonly #recentBytes: RecentBytes = { total: 0 }
  readonly #neighbourhood: Neighbourhood
  readonly #flood: Flood
  #dueMs = Infinity

  constructor(options: { self: NodeId; limits: NetworkLimits }, modules: NodeCoreModules) {
    this.#self = options.self
    this.#limits = options.limits
    this.#modules = modules
    const { counters } = this
    const parts = this.#parts
    const peers = new PeerTable(options.limits, counters)
    this.#neighbourhood = new Neighbourhood(options.limits, { ...modules, counters, parts, peers })
    this.#flood = new Flood(options.limits, { ...modules, counters, parts })
  }

  /** When the next `tick` is due; Infinity for never. */
  get dueMs(): number {
    return this.#dueMs
  }

  get streamParts(): StreamPartMap {
    return this.#parts
  }

  handle(event: NodeEvent, nowMs: number): void {
    switch (event.type) {
      case 'data':
        this.#onData(event.peerId, event.batch, event.packet, nowMs)
        return
      case 'publish':
        this.#flood.publish(event.batch, event.packet, nowMs)
        break
      case 'publisherResolved':
        this.#flood.resolved(event.streamId, event.publisherId, event.found, nowMs)
        break
      case 'join':
        this.#join(event.streamPartId, nowMs)
        break
      case 'leave':
        this.#leave(event.streamPartId, nowMs)
        break
      case 'trackerSession':
        this.#parts.get(event.streamPartId)?.newSession()
        break
      case 'instruction':
        this.#onInstruction(event, nowMs)
        break
      case 'linkOpened':
        this.#neighbourhood.linkOpened(event.peerId, nowMs)
        break
      case 'linkFailed':
        this.#neighbourhood.linkFailed(event.peerId, event.reason, nowMs)
        break
      case 'linkClosed':
        this.#neighbourhood.linkClosed(event.peerId, nowMs)
        break
      case 'control':
        if (event.packet.type === 'attach') this.#neighbourhood.onAttach(event.peerId, event.packet, nowMs)
        else this.#neighbourhood.onDetach(event.peerId, event.packet, nowMs)
        break
      case 'unsupported':
        this.#drop('data.unsupported', `from ${event.peerId}: ${event.detail}`)
        this.#neighbourhood.uselessData(event.peerId, nowMs)
        break
      case 'malformed':
        this.#neighbourhood.misbehaved(event.peerId, event.detail, nowMs)
        break
      case 'tick':
        for (const part of this.#parts) part.recent.forgetOld(nowMs)
        this.#neighbourhood.tick(nowMs)
        break
    }
    this.#updateDue()
  }

  /** The status of a stream part, when it is joined; the caller sends it. */
  takeStatus(streamPartId: StreamPartId, nowMs: number): Status | undefined {
    const part = this.#parts.get(streamPartId)
    if (part === undefined) return undefined
    this.counters['status.sent']++
    const status = part.takeStatus(this.#modules.rttOf, nowMs)
    this.#updateDue()
    return status
  }

  #onData(peerId: NodeId, batch: MessageBatch, packet: Uint8Array, nowMs: number): void {
    const part = this.#parts.ofChain(batch.chain)
    if (part === undefined || !part.isAttached(peerId)) {
      const counter = part === undefined ? 'data.notJoined' : 'data.notAttached'
      this.#drop(counter, `${batch.chain.streamId}#${batch.chain.partition} from ${peerId}`)
      this.#neighbourhood.uselessData(peerId, nowMs)
      return
    }
    if (this.#flood.receive(part, batch, packet, peerId, nowMs) === 'forged') {
      this.#neighbourhood.misbehaved(peerId, `forged: ${batch.chain.publisherId} did not sign this`, nowMs)
      this.#updateDue()
    }
    this.#dueMs = Math.min(this.#dueMs, part.recent.dueMs)
  }

  #join(id: StreamPartId, nowMs: number): void {
    if (this.#parts.get(id) !== undefined) return
    const modules = { counters: this.counters, recentBytes: this.#recentBytes }
    this.#parts.add(new StreamPart({ id, joinedMs: nowMs, limits: this.#limits }, modules))
    this.#modules.effects.statusDue(id)
  }

  #leave(id: StreamPartId, nowMs: number): void {
    const part = this.#parts.get(id)
    if (part === undefined) return
    this.#neighbourhood.leave(part, nowMs)
    part.recent.clear()
    this.#parts.delete(id)
  }

  #onInstruction({ instruction }: NodeEvent & { type: 'instruction' }, nowMs: number): void {
    const part = this.#parts.get(instruction.streamPartId)
    if (part === undefined) {
      this.#drop('instruction.notJoined', instruction.streamPartId)
    } else if (!part.instruct(instruction, this.#self, nowMs)) {
      this.#drop('instruction.stale', `${instruction.streamPartId} ${instruction.counter}`)
    } else {
      this.counters['instruction.handled']++
      this.#neighbourhood.instructed(part, nowMs)
    }
  }

  #drop(counter: CounterName, detail: string): void {
    this.counters[counter]++
    this.#modules.effects.dropped(counter, detail)
  }

  #updateDue(): void {
    let dueMs = this.#neighbourhood.dueMs
    for (const part of this.#parts) dueMs = Math.min(dueMs, part.dueMs)
    this.#dueMs = dueMs
  }
}
