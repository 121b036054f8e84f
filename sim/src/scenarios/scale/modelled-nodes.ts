import { seededRandom, toNodeId, type NodeId, type StreamPartId } from '@runnel/protocol'
import { defaultTrackerLimits, TrackerCore, type TrackerEffect, type TrackerEvent } from '@runnel/tracker'
import { processingMs } from '../formation.ts'
import { cpuMs, limitsFor, type GrowingOverlay, type ScaleOptions } from './scale-run.ts'

const streamPartId = '0x00000000000000000000000000000000000000aa/scale#0' as StreamPartId

const contact = { addresses: [{ kind: 'webrtc', text: '' }], dials: ['websocket', 'webrtc'] }
/** Time passes in such steps: instructions sent in one are carried out at its end. */
const stepMs = 100
/** Who still waits for a neighbour reports after so long all the same. */
const patienceMs = 1_000

/**
 * A production tracker's core, and nodes that are no more than a place in the delay model: each keeps its newest instruction, is
 * linked with whoever wants it too, and reports round-trip times.
 */
export class ModelledNodes implements GrowingOverlay {
  readonly indexes = new Map<NodeId, number>()
  trackerMs = 0
  readonly #core: TrackerCore
  readonly #options: ScaleOptions
  readonly #ids: NodeId[] = []
  readonly #wanted: (readonly number[])[] = []
  readonly #counters: number[] = []
  /** Since when nodes owe a report. */
  readonly #owed = new Map<number, number>()
  #nowMs = 0
  #added = 0

  constructor(options: ScaleOptions) {
    this.#options = options
    const { degree, overlay, seed, model } = options
    const random = seededRandom(`tracker of ${seed}`)
    this.#core = new TrackerCore(
      { degree, overlay, limits: { ...defaultTrackerLimits, ...limitsFor(model.nodes) } },
      { random },
    )
  }

  get counters(): TrackerCore['counters'] {
    return this.#core.counters
  }

  get topology(): GrowingOverlay['topology'] {
    return this.#core.streamParts.get(streamPartId)?.topology
  }

  join(atMs: number): void {
    this.#add(this.#ids.length)
    this.advanceTo(atMs)
  }

  replace(index: number, atMs: number): void {
    const nodeId = this.#ids[index] as NodeId
    this.indexes.delete(nodeId)
    this.#owed.delete(index)
    this.#handle({ type: 'nodeDisconnected', nodeId })
    this.#add(index)
    this.advanceTo(atMs)
  }

  #add(index: number): void {
    const nodeId = toNodeId(`0x${(++this.#added).toString(16).padStart(40, '0')}`)
    this.#ids[index] = nodeId
    this.indexes.set(nodeId, index)
    this.#wanted[index] = []
    this.#counters[index] = 0
    this.#handle({ type: 'nodeConnected', nodeId })
    this.#handle({ type: 'packet', from: nodeId, packet: { type: 'nodeInfo', contact } })
    this.#report(index)
  }

  /** Lets time pass up to then. */
  advanceTo(atMs: number): void {
    while (this.#nowMs < atMs) {
      const untilMs = Math.min(atMs, this.#nowMs + stepMs)
      for (let dueMs = this.#core.dueMs; dueMs <= untilMs; dueMs = this.#core.dueMs) {
        this.#nowMs = Math.max(this.#nowMs, dueMs)
        this.#handle({ type: 'tick' })
      }
      this.#nowMs = untilMs
      this.#options.onPassing?.(Math.floor(untilMs / 1_000))
      for (const [index, sinceMs] of [...this.#owed]) this.#reportOwed(index, sinceMs)
    }
  }

  /** Nodes that have as many linked neighbours as they should. */
  get complete(): number {
    const wanted = Math.min(this.#options.degree, this.#ids.length - 1)
    return this.#ids.filter((_, index) => this.#linked(index).length >= wanted).length
  }

  #linked(index: number): number[] {
    return (this.#wanted[index] ?? []).filter((other) => this.#wanted[other]?.includes(index))
  }

  #reportOwed(index: number, sinceMs: number): void {
    const isComplete = this.#linked(index).length === this.#wanted[index]?.length
    if (!isComplete && this.#nowMs - sinceMs < patienceMs) return
    if (isComplete) this.#owed.delete(index)
    else this.#owed.set(index, this.#nowMs)
    this.#report(index)
  }

  #report(index: number): void {
    const { model } = this.#options
    const neighbours = this.#linked(index).map((other) => ({
      nodeId: this.#ids[other] as NodeId,
      rttMs: model.oneWayMs(index, other) + model.oneWayMs(other, index) + 2 * processingMs,
    }))
    const counter = this.#counters[index] ?? 0
    const packet = { type: 'status', streamPartId, counter, neighbours, failed: [] } as const
    this.#handle({ type: 'packet', from: this.#ids[index] as NodeId, packet })
  }

  #handle(event: TrackerEvent): void {
    const startMs = cpuMs()
    const effects = this.#core.handle(event, this.#nowMs)
    this.trackerMs += cpuMs() - startMs
    for (const effect of effects) this.#carryOut(effect)
  }

  #carryOut(effect: TrackerEffect): void {
    if (effect.type !== 'send' || effect.packet.type !== 'instruction') return
    const index = this.indexes.get(effect.to)
    const { counter, neighbours } = effect.packet
    if (index === undefined || counter <= (this.#counters[index] ?? 0)) return
    this.#counters[index] = counter
    this.#wanted[index] = neighbours.map(({ nodeId }) => this.indexes.get(nodeId) ?? -1)
    this.#owed.set(index, this.#nowMs)
  }
}
