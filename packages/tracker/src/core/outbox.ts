import type { NodeId } from '@runnel/protocol'
import { trackerErrors, type TrackerErrorCode } from '../errors.ts'
import type { RegistryQuestion } from './askers.ts'
import type { Counters } from './counters.ts'
import type { NodeRecord } from './node-record.ts'
import type { CoreToNode, TrackerEffect } from './tracker-events.ts'

/** The effects of the present event: which packets are sent, and which nodes are refused. */
export class Outbox {
  readonly #counters: Counters
  #effects: TrackerEffect[] = []
  #nowMs = 0

  constructor(modules: { readonly counters: Counters }) {
    this.#counters = modules.counters
  }

  /** The effects of the event that begins now; they are added as it is dealt with. */
  begin(nowMs: number): TrackerEffect[] {
    this.#nowMs = nowMs
    this.#effects = []
    return this.#effects
  }

  send(to: NodeId, packet: CoreToNode): void {
    this.#effects.push({ type: 'send', to, packet })
  }

  resolve(question: RegistryQuestion): void {
    this.#effects.push({ type: 'resolve', ...question })
  }

  /** Tells a node what was wrong with something that it has paid for: beyond a rate it is not told, as a node in very many stream parts may be. */
  error(node: NodeRecord, code: TrackerErrorCode, detail?: string): void {
    if (node.errors.take(this.#nowMs)) this.tell(node.nodeId, code, detail)
  }

  /** Tells a node that it could not pay; one that is told so too often is refused. */
  unpaid(node: NodeRecord, code: TrackerErrorCode, detail?: string): void {
    if (node.unpaid.take(this.#nowMs)) this.tell(node.nodeId, code, detail)
    else this.refuseFlood(node)
  }

  /** Tells a node of something that it did not cause. */
  tell(nodeId: NodeId, code: TrackerErrorCode, detail?: string): void {
    this.#counters.count('errors')
    this.send(nodeId, { type: 'trackerError', code, message: textOf(code, detail) })
  }

  /** Nothing more is accepted from the node on this connection. */
  refuse(node: NodeRecord, code: TrackerErrorCode, detail?: string): void {
    node.refused = true
    this.#effects.push({ type: 'refuse', to: node.nodeId, code, text: textOf(code, detail) })
  }

  refuseFlood(node: NodeRecord): void {
    this.#counters.count('floodsRefused')
    this.refuse(node, 'TOO_MANY_PACKETS')
  }
}

function textOf(code: TrackerErrorCode, detail?: string): string {
  const { summary } = trackerErrors[code]
  return detail === undefined ? summary : `${summary}: ${detail}`
}
