import { sameContact, type Contact, type NodeId, type StreamPartId } from '@runnel/protocol'
import type { Breaches } from './breaches.ts'

/** The part of a tracker's knowledge of its nodes that is checked. */
export interface TrackerView {
  readonly nodes: ReadonlyMap<NodeId, { readonly contact: Contact | undefined }>
  readonly streamParts: ReadonlyMap<
    StreamPartId,
    {
      readonly isAdopting: boolean
      /** Whether nodes being taken over hold up no other node, where the tracker can tell. */
      readonly isKnown?: boolean
      readonly members: ReadonlyMap<NodeId, unknown>
    }
  >
}

/** A node that is connected to the tracker is known there as what it says itself, and in what it has joined. */
export function checkMembership(
  tracker: TrackerView,
  nodeId: NodeId,
  said: { readonly contact: Contact; readonly streamParts: readonly StreamPartId[] },
  breaches: Breaches,
): void {
  const told = tracker.nodes.get(nodeId)?.contact
  if (told === undefined || !sameContact(told, said.contact))
    breaches.report('membership', `the tracker tells others that ${nodeId} is at ${JSON.stringify(told)}`)
  for (const id of said.streamParts)
    if (tracker.streamParts.get(id)?.members.has(nodeId) !== true)
      breaches.report('membership', `the tracker does not know that ${nodeId} is in ${id}`)
}

/** While a tracker goes on, its stream parts are not held up by being taken over for longer than `longestMs` altogether. */
export class AdoptionChecker {
  readonly #longestMs: number
  readonly #modules: { readonly breaches: Breaches; nowMs(): number }
  readonly #adoptingMs = new Map<StreamPartId, number>()
  #checkedMs = 0

  constructor(
    options: { readonly longestMs: number },
    modules: { readonly breaches: Breaches; nowMs(): number },
  ) {
    this.#longestMs = options.longestMs
    this.#modules = modules
  }

  check({ streamParts }: TrackerView): void {
    const { breaches, nowMs } = this.#modules
    const passedMs = nowMs() - this.#checkedMs
    this.#checkedMs = nowMs()
    for (const [id, { isAdopting, isKnown = !isAdopting }] of streamParts) {
      if (isKnown) continue
      const adoptingMs = (this.#adoptingMs.get(id) ?? 0) + passedMs
      this.#adoptingMs.set(id, adoptingMs)
      if (adoptingMs > this.#longestMs)
        breaches.report('adoption', `${id} was being taken over for ${Math.round(adoptingMs)} ms`)
    }
  }
}
